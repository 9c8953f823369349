// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Proxy;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;

/** TLS by the JDK's sockets, which decrypt into an array. */
final class SecureConnection extends Connection {

    private static final int MOST_RECORD_BYTES = 16 << 10;

    private final Socket plain;
    private final SSLSocket socket;
    private final InputStream input;
    private final byte[] decrypted = new byte[MOST_RECORD_BYTES];

    SecureConnection(Origin origin, Route route, Requester by) throws IOException {
        super(origin, route);
        plain = route.connect(origin, address -> open(address, route.timeoutMillis(), by));
        try {
            HttpProxy proxy = route.proxy();
            if (proxy != null) {
                plain.getOutputStream().write(proxy.tunnel(origin).getBytes(StandardCharsets.ISO_8859_1));
                proxy.check(ResponseHead.parse(head(plain.getInputStream())), true);
            }
            socket = (SSLSocket)
                    route.trust().context().getSocketFactory().createSocket(plain, origin.host(), origin.port(), true);
            SSLParameters parameters = socket.getSSLParameters();
            parameters.setEndpointIdentificationAlgorithm("HTTPS"); // checks that the certificate is of the host
            socket.setSSLParameters(parameters);
            handshake(route.trust());
            input = socket.getInputStream();
        } catch (IOException | RuntimeException | Error e) {
            try (plain) {
                throw e; // also if the close fails
            }
        }
    }

    private void handshake(Trust trust) throws IOException {
        try {
            socket.startHandshake();
        } catch (SSLException e) {
            for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
                if (cause instanceof CertPathBuilderException || cause instanceof CertPathValidatorException) {
                    SSLException named = new SSLHandshakeException(e.getMessage() + "; the certificate is checked by "
                            + trust + ", penstock.http.trust chooses another");
                    named.initCause(e);
                    throw named;
                }
            }
            throw e;
        }
    }

    private Socket open(InetSocketAddress address, int timeoutMillis, Requester by) throws IOException {
        Socket opened = new Socket(Proxy.NO_PROXY) { // TLS reads a record of 16 KiB by many reads
                    @Override
                    public InputStream getInputStream() throws IOException {
                        return new FilterInputStream(super.getInputStream()) {
                            @Override
                            public int read(byte[] bytes, int offset, int length) throws IOException {
                                int got = super.read(bytes, offset, length);
                                received(got);
                                return got;
                            }
                        };
                    }
                };
        try {
            by.opens(opened);
            opened.connect(address, timeoutMillis);
            opened.setTcpNoDelay(true);
            opened.setSoTimeout(timeoutMillis);
            return opened;
        } catch (IOException | RuntimeException | Error e) {
            try (opened) {
                throw e; // also if the close fails
            }
        }
    }

    /** Receives the head of a proxy's response, and not a byte of what follows. */
    private static String head(InputStream from) throws IOException {
        StringBuilder head = new StringBuilder();
        byte[] next = new byte[1];
        while (head.indexOf("\r\n\r\n", Math.max(0, head.length() - 4)) < 0) {
            if (head.length() == MOST_HEAD_BYTES || from.read(next, 0, 1) < 0) {
                throw new EOFException("the proxy ended the connection within the headers, or sent too many");
            }
            head.append((char) (next[0] & 0xff));
        }
        return head.toString();
    }

    @Override
    void send(byte[] bytes) throws IOException {
        try {
            socket.getOutputStream().write(bytes);
        } catch (SocketException e) {
            throw alert(e);
        }
    }

    /**
     * Returns the alert that the server sent before it reset the connection, for example certificate_required; else
     * the reset.
     */
    private IOException alert(SocketException broken) {
        try {
            input.read();
        } catch (SSLException alert) {
            return alert;
        } catch (IOException e) {
            broken.addSuppressed(e);
        }
        return broken;
    }

    @Override
    int receive(ByteBuffer to) throws IOException {
        int got = input.read(decrypted, 0, Math.min(decrypted.length, to.remaining()));
        if (got > 0) {
            to.put(decrypted, 0, got);
        }
        return got;
    }

    /** {@inheritDoc} Sends no close_notify of TLS, which would block while the socket's buffer is full. */
    @Override
    public void close() {
        try {
            plain.close();
        } catch (IOException e) {
            // it is of no more use
        }
    }
}
