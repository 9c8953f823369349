// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A client that sends given bytes as they are, as no library would. */
final class Connection implements AutoCloseable {

    private static final int PATIENCE_MILLIS = 20_000;

    private final Socket socket = new Socket();
    private final InputStream in;

    /** An answer; header names in lower case, each byte of the body a character. */
    record Answer(int status, Map<String, String> headers, String text) {
        String header(String name) {
            return headers.getOrDefault(name, "");
        }

        byte[] body() {
            return text.getBytes(StandardCharsets.ISO_8859_1);
        }
    }

    /**
     * Connects.
     *
     * @param receiveBytes the size of the socket's buffer, 0 for the system's choice
     */
    Connection(InetSocketAddress server, int receiveBytes) throws IOException {
        if (receiveBytes > 0) {
            socket.setReceiveBufferSize(receiveBytes);
        }
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(PATIENCE_MILLIS);
        socket.connect(server, PATIENCE_MILLIS);
        in = socket.getInputStream();
    }

    static Connection to(InetSocketAddress server) throws IOException {
        return new Connection(server, 0);
    }

    /** Sends a request, header lines included, and reads the answer. */
    Answer ask(String method, String target, String... headers) throws IOException {
        send(method, target, headers);
        Answer head = readHead();
        boolean bodiless = method.equals("HEAD") || head.status() == 304;
        return new Answer(head.status(), head.headers(), bodiless ? "" : readBody(head));
    }

    void send(String method, String target, String... headers) throws IOException {
        StringBuilder request = new StringBuilder(method + ' ' + target + " HTTP/1.1\r\nHost: localhost\r\n");
        for (String header : headers) {
            request.append(header).append("\r\n");
        }
        socket.getOutputStream().write(request.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Sends what need not be a request. */
    void sendRaw(String bytes) throws IOException {
        socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Ends its output, and keeps listening. */
    void shutDownOutput() throws IOException {
        socket.shutdownOutput();
    }

    /** Reads an answer with its body. */
    Answer readAnswer() throws IOException {
        Answer head = readHead();
        return new Answer(head.status(), head.headers(), readBody(head));
    }

    Answer readHead() throws IOException {
        String[] status = line().split(" ", 3);
        Map<String, String> headers = new TreeMap<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        return new Answer(Integer.parseInt(status[1]), headers, "");
    }

    private String readBody(Answer head) throws IOException {
        int length = Integer.parseInt(head.header("content-length"));
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException("the server closed after " + body.length + " of " + length + " bytes");
        }
        return new String(body, StandardCharsets.ISO_8859_1);
    }

    /** Reads into {@code into} over and over, until {@code bytes} are read. */
    void skip(long bytes, byte[] into) throws IOException {
        for (long left = bytes; left > 0; ) {
            int got = in.read(into, 0, (int) Math.min(left, into.length));
            if (got < 0) {
                throw new EOFException(left + " bytes are missing");
            }
            left -= got;
        }
    }

    byte[] read(int bytes) throws IOException {
        return in.readNBytes(bytes);
    }

    /** Reads until the server closes, in whichever way. */
    void readAll() throws IOException {
        try {
            in.readAllBytes();
        } catch (SocketException reset) {
            // it did not read all that was sent
        }
    }

    /** Returns how many bytes have come that were not read. */
    int available() throws IOException {
        return in.available();
    }

    int read() throws IOException {
        return in.read();
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("the server closed");
            }
            if (c != '\r') {
                line.write(c);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    /** Closes with a reset instead of a farewell. */
    void abort() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
