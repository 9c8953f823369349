// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** A proxy that forwards and tunnels to one server on this host, whatever the name that is requested. */
public final class ForwardProxy implements AutoCloseable {

    private final ServerSocket listening = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int server;
    private final @Nullable String login;

    /** The request lines that it has got, in order. */
    public final List<String> requests = new CopyOnWriteArrayList<>();

    /**
     * Starts a proxy.
     *
     * @param server the port of all servers
     * @param login user and password, with a colon between them; null for none
     */
    public ForwardProxy(int server, @Nullable String login) throws IOException {
        this.server = server;
        this.login = login;
        thread(() -> {
            while (true) {
                Socket client = listening.accept();
                thread(() -> serve(client));
            }
        });
    }

    private interface Body {
        void run() throws IOException;
    }

    private static void thread(Body body) {
        Thread thread = new Thread(
                () -> {
                    try {
                        body.run();
                    } catch (IOException e) {
                        // one of both has gone
                    }
                },
                "forward-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns host and port. */
    public String address() {
        return "127.0.0.1:" + listening.getLocalPort();
    }

    private void serve(Socket client) throws IOException {
        try (client;
                Socket to = new Socket(InetAddress.getLoopbackAddress(), server)) {
            boolean piping = false;
            for (String head = head(client.getInputStream()); !head.isEmpty(); head = head(client.getInputStream())) {
                String line = head.substring(0, head.indexOf('\r'));
                requests.add(line);
                if (login != null && !head.toLowerCase(Locale.ROOT).contains(expected())) {
                    write(
                            client.getOutputStream(),
                            "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
                    return;
                }
                if (!piping) {
                    piping = true;
                    if (line.startsWith("CONNECT")) {
                        write(client.getOutputStream(), "HTTP/1.1 200 Connection established\r\n\r\n");
                    }
                    thread(() -> pipe(to.getInputStream(), client));
                }
                if (line.startsWith("CONNECT")) {
                    pipe(client.getInputStream(), to);
                    return;
                }
                write(to.getOutputStream(), head.replaceFirst("http://[^/]*", ""));
                body(head, client.getInputStream(), to.getOutputStream());
            }
        }
    }

    private String expected() {
        byte[] bytes = String.valueOf(login).getBytes(StandardCharsets.UTF_8);
        return "proxy-authorization: basic "
                + Base64.getEncoder().encodeToString(bytes).toLowerCase(Locale.ROOT);
    }

    private static void body(String head, InputStream from, OutputStream to) throws IOException {
        for (String line : head.split("\r\n")) {
            if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                to.write(from.readNBytes(Integer.parseInt(line.substring(15).strip())));
            }
        }
    }

    private static void write(OutputStream to, String text) throws IOException {
        to.write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Copies until the end, which it passes on. */
    private static void pipe(InputStream from, Socket to) throws IOException {
        try (to) {
            from.transferTo(to.getOutputStream());
        }
    }

    private static String head(InputStream from) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        while (!head.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
            int next = from.read();
            if (next < 0) {
                return "";
            }
            head.write(next);
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        listening.close();
    }
}
