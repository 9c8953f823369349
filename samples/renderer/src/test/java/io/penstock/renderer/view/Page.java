// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** A client that does what the page does, and reads only when the test lets it. */
final class Page implements WebSocket.Listener, AutoCloseable {

    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final long PATIENCE_SECONDS = 60;

    private final BlockingQueue<Object> messages = new LinkedBlockingQueue<>(); // texts and pictures
    private final StringBuilder text = new StringBuilder();
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Map<String, Object> fields = new LinkedHashMap<>();
    private final WebSocket socket;

    private Page(int port, String origin) {
        fields.putAll(Map.of("backend", "host", "path", "", "view", "mip", "azimuth", 30, "elevation", 15));
        fields.putAll(Map.of("side", 128, "zoom", 1, "level", 0.5, "window", 1));
        fields.putAll(Map.of("budget", 200_000, "chunk", 1 << 30, "depth", 4));
        socket = CLIENT.newWebSocketBuilder()
                .header("Origin", origin)
                .buildAsync(URI.create("ws://127.0.0.1:" + port + "/stream"), this)
                .join();
    }

    /** Connects, as a page of that origin. */
    static Page of(int port, String origin) {
        return new Page(port, origin);
    }

    Page with(String field, Object value) {
        fields.put(field, value);
        return this;
    }

    void send(String request) {
        socket.sendText(request, true).join();
    }

    void ask() {
        send(request());
    }

    /** As {@link #ask}, in two frames of the protocol. */
    void askInFragments() {
        String request = request();
        socket.sendText(request.substring(0, 20), false).join();
        socket.sendText(request.substring(20), true).join();
    }

    private String request() {
        return fields.entrySet().stream()
                .map(field -> field.getKey() + "=" + field.getValue())
                .collect(Collectors.joining("&"));
    }

    /** Asks for a frame and returns its picture; an error fails the test. */
    byte[] frame() {
        ask();
        String told = next("\"type\":\"frame\"", "\"type\":\"error\"");
        if (told.contains("error")) {
            throw new AssertionError(told);
        }
        return (byte[]) take();
    }

    /** Asks for a frame and returns why there is none. */
    String error() {
        ask();
        return next("\"type\":\"error\"");
    }

    /** Returns the next message that contains one of the texts; skips others, but for pictures. */
    String next(String... texts) {
        while (true) {
            Object message = take();
            if (message instanceof String told) {
                for (String wanted : texts) {
                    if (told.contains(wanted)) {
                        return told;
                    }
                }
            } else {
                throw new AssertionError("a picture that nobody asked for");
            }
        }
    }

    private Object take() {
        try {
            Object message = messages.poll();
            while (message == null) {
                socket.request(1);
                message = messages.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
                Objects.requireNonNull(message, "nothing came");
            }
            return message;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    void ping() {
        socket.sendPing(ByteBuffer.allocate(125)).join();
    }

    @Override
    public @Nullable CompletionStage<?> onPong(WebSocket from, ByteBuffer data) {
        messages.add("pong of " + data.remaining() + " bytes");
        return null;
    }

    /** Breaks the connection. */
    void abort() {
        socket.abort();
    }

    @Override
    public void onOpen(WebSocket opened) {} // requests nothing

    @Override
    public @Nullable CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
        text.append(data);
        if (last) {
            messages.add(text.toString());
            text.setLength(0);
        } else {
            from.request(1);
        }
        return null;
    }

    @Override
    public @Nullable CompletionStage<?> onBinary(WebSocket from, ByteBuffer data, boolean last) {
        try {
            Channels.newChannel(bytes).write(data);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (last) {
            messages.add(bytes.toByteArray());
            bytes.reset();
        } else {
            from.request(1);
        }
        return null;
    }

    @Override
    public void close() {
        socket.abort();
    }
}
