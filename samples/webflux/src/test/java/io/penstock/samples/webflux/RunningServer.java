// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.stream.LiveLeases;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;

/** The application on a free port of loopback. */
final class RunningServer implements AutoCloseable {

    final ConfigurableApplicationContext context;

    private final int port;
    private final HttpClient client = HttpClient.newHttpClient();

    RunningServer(Path folder) {
        context = SpringApplication.run(
                FileServer.class,
                "--server.port=0",
                "--files.folder=" + folder,
                "--logging.level.root=warn",
                "--spring.main.banner-mode=off");
        port = context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    HttpRequest.Builder to(String path) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + port + path));
    }

    HttpResponse<byte[]> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    /** Sends a GET of a file, and reads the first byte of the response. */
    Socket begin(String name) throws IOException {
        Socket socket = ask(name);
        assertThat(socket.getInputStream().read()).isEqualTo('H');
        return socket;
    }

    /** Sends a GET of a file. */
    Socket ask(String name) throws IOException {
        Socket socket = new Socket("localhost", port);
        String request = "GET /files/" + name + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    /** Waits until the server holds neither a chunk nor a descriptor of the folder's files. */
    static void awaitNothingHeld(Path folder) {
        await(() -> LiveLeases.count() == 0 && descriptors(folder) == 0);
    }

    /** Returns how many descriptors of this process lead to files in the folder. */
    static long descriptors(Path folder) {
        try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
            return all.filter(descriptor -> leadsTo(descriptor, folder)).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean leadsTo(Path descriptor, Path folder) {
        try {
            return Files.readSymbolicLink(descriptor).startsWith(folder);
        } catch (IOException closedMeanwhile) {
            return false;
        }
    }

    static void await(BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // by the time limit of tests
            Thread.onSpinWait();
        }
    }

    @Override
    public void close() {
        context.close();
    }
}
