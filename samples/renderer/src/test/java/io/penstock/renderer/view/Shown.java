// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.cli.serve.Limits;
import io.penstock.renderer.volume.NiftiFile;
import io.penstock.renderer.volume.Phantom;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A server that shows a phantom, on a loopback port. */
final class Shown implements AutoCloseable {

    private static final long PATIENCE_NANOS = 60_000_000_000L;

    final Path file;
    final NiftiFile volume;
    final FrameLoop loop;
    private final long budget;
    ViewServer server;

    Shown(Path folder, Phantom phantom) throws IOException {
        this(folder, phantom, 0, Long.MAX_VALUE);
    }

    /**
     * Starts a server.
     *
     * @param budget the bytes that pages begin with; at most half of the volume
     */
    Shown(Path folder, Phantom phantom, int port, long budget) throws IOException {
        file = folder.resolve("phantom.nii");
        Files.write(file, phantom.bytes());
        volume = NiftiFile.open(file, (into, done, total) -> {});
        loop = new FrameLoop(volume);
        this.budget = Math.min(budget, volume.header().volumeBytes() / 2);
        server = start(port);
    }

    /** Closes the server, and starts another one with other limits for its clients. */
    void restart(Limits limits) {
        server.close();
        server = ViewServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                loop,
                new Origins(Set.of()),
                new ViewServer.Beginning("phantom.nii", "host", budget),
                limits);
    }

    private ViewServer start(int port) {
        return ViewServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), port),
                loop,
                new Origins(Set.of("https://view.example")),
                new ViewServer.Beginning("phantom.nii", "host", budget));
    }

    int port() {
        return server.address().getPort();
    }

    /** Closes the server, waits until its viewers are gone, and starts another at the same port. */
    void restart() {
        restart(() -> {});
    }

    /** The same, with something to look at while there is no server. */
    void restart(Runnable meanwhile) {
        int port = port();
        server.close();
        await(() -> server.viewers() == 0);
        meanwhile.run();
        server = start(port);
    }

    Page connect() {
        return Page.of(port(), "http://127.0.0.1:" + port());
    }

    static void await(BooleanSupplier condition) {
        long deadline = System.nanoTime() + PATIENCE_NANOS;
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - deadline).as("waited in vain").isNegative();
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Asserts that viewers that have disconnected leave nothing. */
    void assertNothingIsLeft() {
        await(() -> server.viewers() == 0);
        await(() -> loop.openSources() == 0);
    }

    @Override
    public void close() {
        server.close();
        loop.close();
        volume.close();
    }
}
