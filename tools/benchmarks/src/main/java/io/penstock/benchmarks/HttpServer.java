// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** nginx on loopback, over one folder: with sendfile, without a log. */
final class HttpServer implements AutoCloseable {

    /** The first name of the paths that the folder's files have too: as objects of a bucket. */
    static final String BUCKET = "bucket";

    private static final int ATTEMPTS = 200;
    private static final int CLOSE_SECONDS = 10;

    private final Process process;
    private final Path configuration;
    private final int port;

    HttpServer(Path folder) throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        Path absolute = folder.toAbsolutePath();
        configuration = Files.createTempFile("nginx", ".conf");
        Files.writeString(
                configuration,
                "daemon off; worker_processes auto; pid " + configuration + ".pid; error_log stderr crit;\n"
                        + "events { worker_connections 256; }\n"
                        + "http { access_log off; sendfile on; keepalive_requests 1000000;\n"
                        + "  server { listen 127.0.0.1:" + port + "; root " + absolute
                        + "; location /" + BUCKET + "/ { alias " + absolute + "/; } } }\n");
        process = new ProcessBuilder(program("nginx").orElseThrow().toString(), "-c", configuration.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        for (int i = 0; !answers(); i++) {
            if (i == ATTEMPTS || !process.isAlive()) {
                close();
                throw new IOException("nginx does not answer");
            }
        }
    }

    private boolean answers() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            try {
                TimeUnit.MILLISECONDS.sleep(20);
            } catch (InterruptedException interrupted) {
                throw new IOException(interrupted);
            }
            return false;
        }
    }

    /** Returns where a program is, among the usual folders of programs. */
    static Optional<Path> program(String name) {
        String path = System.getenv("PATH") + ":/usr/sbin:/usr/local/sbin"; // where servers are
        for (String folder : path.split(":")) {
            Path program = Path.of(folder, name);
            if (Files.isExecutable(program)) {
                return Optional.of(program);
            }
        }
        return Optional.empty();
    }

    URI uri(Path file) {
        return URI.create("http://127.0.0.1:" + port + "/" + file.getFileName());
    }

    @Override
    public void close() throws IOException {
        process.destroy();
        try {
            if (!process.waitFor(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Files.deleteIfExists(configuration);
    }
}
