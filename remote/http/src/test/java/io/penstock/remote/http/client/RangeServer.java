// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A server of one file that goes wrong as told; written after RFC 9110 and 9112, apart from the client. */
final class RangeServer implements AutoCloseable {

    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");

    /** One request, and what the server does about it. */
    interface Answer {
        /** Answers, or returns false for the usual answer. */
        boolean answer(Request request, OutputStream to) throws IOException;
    }

    record Request(int number, String target, Map<String, String> headers, long from, long to) {}

    private final ServerSocket listening;
    private final String scheme;
    private final byte[] bytes;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    final List<Request> requests = new CopyOnWriteArrayList<>();
    private final AtomicInteger numbers = new AtomicInteger();
    final AtomicInteger connections = new AtomicInteger();
    volatile String etag = "\"one\"";
    volatile Answer answer = (request, to) -> false;

    RangeServer(byte[] bytes) throws IOException {
        this(bytes, "http", new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
    }

    RangeServer(byte[] bytes, String scheme, ServerSocket listening) {
        this.bytes = bytes;
        this.scheme = scheme;
        this.listening = listening;
        thread(this::accept).start();
    }

    private static Thread thread(Runnable body) {
        Thread thread = new Thread(body, "range-server");
        thread.setDaemon(true);
        return thread;
    }

    URI uri() {
        return uri("/file.bin");
    }

    URI uri(String target) {
        return URI.create(scheme + "://localhost:" + listening.getLocalPort() + target);
    }

    private void accept() {
        while (true) {
            try {
                Socket socket = listening.accept();
                open.add(socket);
                connections.incrementAndGet();
                thread(() -> serve(socket)).start();
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            BufferedReader input =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.ISO_8859_1));
            OutputStream output = socket.getOutputStream();
            for (String line = input.readLine(); line != null; line = input.readLine()) {
                Request request = request(line, input);
                requests.add(request);
                if (!answer.answer(request, output)) {
                    usual(request, output);
                }
                output.flush();
            }
        } catch (IOException e) {
            // the client has gone, or the server was told to cut
        } finally {
            open.remove(socket);
        }
    }

    private Request request(String line, BufferedReader input) throws IOException {
        Map<String, String> headers = new TreeMap<>();
        for (String header = input.readLine(); header != null && !header.isEmpty(); header = input.readLine()) {
            String[] parts = header.split(": ", 2);
            headers.put(parts[0].toLowerCase(Locale.ROOT), parts[1]);
        }
        Matcher range = RANGE.matcher(headers.getOrDefault("range", ""));
        boolean ranged = range.matches();
        return new Request(
                numbers.getAndIncrement(),
                line.split(" ")[1],
                headers,
                ranged ? Long.parseLong(range.group(1)) : 0,
                ranged ? Long.parseLong(range.group(2)) : Long.MAX_VALUE);
    }

    /** Sends a range, or 412 or 416. */
    void usual(Request request, OutputStream to) throws IOException {
        String match = request.headers.get("if-match");
        if (match != null && !match.equals(etag)) {
            to.write(text("412 Precondition Failed", "Content-Length: 0"));
        } else if (request.from >= bytes.length) {
            to.write(text("416 Range Not Satisfiable", "Content-Length: 0", "Content-Range: bytes */" + bytes.length));
        } else {
            head(request, to);
            int count = (int) (Math.min(request.to, bytes.length - 1) - request.from + 1);
            to.write(bytes, (int) request.from, count);
        }
    }

    void head(Request request, OutputStream to) throws IOException {
        long last = Math.min(request.to, bytes.length - 1);
        to.write(text(
                "206 Partial Content",
                "ETag: " + etag,
                "Content-Length: " + (last - request.from + 1),
                "Content-Range: bytes " + request.from + "-" + last + "/" + bytes.length));
    }

    /** Sends some bytes of the range, and cuts the connection. */
    void cut(Request request, OutputStream to, int after) throws IOException {
        head(request, to);
        to.write(bytes, (int) request.from, after);
        to.flush();
        throw new IOException("cut");
    }

    static byte[] text(String status, String... headers) {
        String all = headers.length == 0 ? "" : String.join("\r\n", headers) + "\r\n";
        return ("HTTP/1.1 " + status + "\r\n" + all + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }

    static void sleep(long millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Cuts all connections. */
    void cutAll() throws IOException {
        for (Socket socket : open) {
            socket.close();
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        cutAll();
    }
}
