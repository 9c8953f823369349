// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
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

/** A proxy in front of a server: passes requests and responses on, and goes wrong as told. */
final class FaultProxy implements AutoCloseable {

    /** What goes wrong with one request. */
    interface Fault {
        /** Answers, or returns false to let the request through. */
        boolean answer(Request request, OutputStream to) throws IOException;
    }

    /** One request; {@code number} among the requests of its kind, from 0. */
    static final class Request {
        final int number;
        final String kind; // its method, or OPEN for a GET of the first bytes
        final String target;
        final Map<String, String> headers;
        final byte[] body;
        private final byte[] head;

        private Request(int number, String kind, String target, Map<String, String> headers, byte[] head, byte[] body) {
            this.number = number;
            this.kind = kind;
            this.target = target;
            this.headers = headers;
            this.head = head;
            this.body = body;
        }
    }

    /** What the server answers: its head without its last empty line, and its body. */
    static final class Response {
        final String head;
        final byte[] body;

        private Response(String head, byte[] body) {
            this.head = head;
            this.body = body;
        }
    }

    private final ServerSocket listening;
    private final int server;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final Map<String, AtomicInteger> numbers = new ConcurrentHashMap<>();
    final List<Request> requests = new CopyOnWriteArrayList<>();
    volatile Fault fault = (request, to) -> false;

    FaultProxy(int server) throws IOException {
        this.server = server;
        listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        thread(this::accept);
    }

    private static void thread(Runnable body) {
        Thread thread = new Thread(body, "fault-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    URI uri() {
        return URI.create("http://localhost:" + listening.getLocalPort());
    }

    /** Forgets all requests, and goes right. */
    void reset() {
        fault = (request, to) -> false;
        requests.clear();
        numbers.clear();
    }

    /** Returns the requests of a kind. */
    List<Request> requests(String kind) {
        return requests.stream().filter(request -> request.kind.equals(kind)).toList();
    }

    private void accept() {
        while (true) {
            try {
                Socket socket = listening.accept();
                open.add(socket);
                thread(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            InputStream input = socket.getInputStream();
            OutputStream output = socket.getOutputStream();
            while (true) {
                Request request = request(input);
                requests.add(request);
                if (!fault.answer(request, output)) {
                    Response response = forward(request);
                    output.write(text(response.head));
                    output.write(response.body);
                }
                output.flush();
            }
        } catch (IOException e) {
            // the client has gone, or the proxy was told to cut
        } finally {
            open.remove(socket);
        }
    }

    private Request request(InputStream input) throws IOException {
        byte[] head = head(input);
        String[] lines = new String(head, StandardCharsets.ISO_8859_1).split("\r\n");
        Map<String, String> headers = headers(lines);
        String[] line = lines[0].split(" ");
        String kind = "bytes=0-1".equals(headers.get("range")) ? "OPEN" : line[0];
        int number = numbers.computeIfAbsent(kind, any -> new AtomicInteger()).getAndIncrement();
        byte[] body = input.readNBytes(Integer.parseInt(headers.getOrDefault("content-length", "0")));
        return new Request(number, kind, line[1], headers, head, body);
    }

    private static Map<String, String> headers(String[] lines) {
        Map<String, String> headers = new TreeMap<>();
        for (int i = 1; i < lines.length; i++) {
            String[] parts = lines[i].split(": ?", 2);
            headers.put(parts[0].toLowerCase(Locale.ROOT), parts[1]);
        }
        return headers;
    }

    private static byte[] head(InputStream input) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        for (int end = 0; end < 4; ) {
            int next = input.read();
            if (next < 0) {
                throw new EOFException();
            }
            head.write(next);
            end = next == (end % 2 == 0 ? '\r' : '\n') ? end + 1 : 0;
        }
        return head.toByteArray();
    }

    /** Lets a request through, and returns what the server answers. */
    Response forward(Request request) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server)) {
            OutputStream output = socket.getOutputStream();
            output.write(request.head, 0, request.head.length - 2);
            output.write(text("Connection: close"));
            output.write(request.body);
            output.flush();
            InputStream input = socket.getInputStream();
            String head = new String(head(input), StandardCharsets.ISO_8859_1)
                    .replaceFirst("(?i)\r\nConnection: close", "")
                    .replaceFirst("\r\n\r\n$", "");
            byte[] body = input.readAllBytes();
            // Without a length it would end with the connection, which goes on.
            boolean framed = head.matches("(?is).*\r\n(Content-Length|Transfer-Encoding):.*");
            return new Response(framed ? head : head + "\r\nContent-Length: " + body.length, body);
        }
    }

    /** Returns a head and its empty line as bytes. */
    static byte[] text(String head) {
        return (head + "\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1);
    }

    /** Returns an error as S3 sends it. */
    static byte[] error(String status, String code) {
        String body = "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code></Error>";
        String head = "HTTP/1.1 " + status + "\r\nContent-Type: application/xml\r\nContent-Length: " + body.length();
        return (head + "\r\n\r\n" + body).getBytes(StandardCharsets.ISO_8859_1);
    }

    static void sleep(long millis) {
        try {
            TimeUnit.MILLISECONDS.sleep(millis);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() throws IOException {
        listening.close();
        for (Socket socket : open) {
            socket.close();
        }
    }
}
