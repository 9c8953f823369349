// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static io.penstock.backend.cufile.GpuFixture.await;
import static io.penstock.backend.cufile.GpuFixture.content;
import static io.penstock.backend.cufile.GpuFixture.get;
import static io.penstock.backend.cufile.GpuFixture.move;
import static io.penstock.backend.cufile.GpuFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.PeerExport;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.publisher.Mono;

/** Two processes and the memory of one GPU, on the fake and on the machine's own driver. */
abstract class IpcRules {

    private static final int BYTES = (3 << 20) + 4099;

    private static @Nullable IpcPeer started;

    @TempDir
    Path folder;

    GpuFixture gpu;
    Backend backend;
    IpcPeer peer;

    /** Opens this process's backend, and finds or starts the other one, which has a backend on GPU 0. */
    void start(Backend opened, Map<String, String> environment) throws IOException {
        backend = opened;
        IpcPeer running = started;
        if (running == null || !running.isAlive()) {
            running = new IpcPeer(environment);
            started = running;
        }
        peer = running;
    }

    @AfterEach
    void nothingIsLeft() {
        if (peer == null) {
            return;
        }
        gpu.close();
        if (peer.isAlive()) {
            peer.ask("reset");
            await(() -> peer.ask("left").equals("0"));
        }
        assertNothingLives();
    }

    /** Called when both processes have closed what a test has opened. */
    void assertNothingLives() {}

    @AfterAll
    static void end() {
        if (started != null) {
            started.close();
            started = null;
        }
    }

    URI exported(int bytes, int seed) {
        String uri = peer.ask("export " + bytes + " " + seed);
        assertThat(uri).startsWith("cuda-ipc:/");
        return URI.create(uri);
    }

    DeviceBuffer opened(URI uri) {
        return gpu.keep(get(backend.openBuffer(uri)));
    }

    DeviceBuffer filled(int bytes, int seed) {
        DeviceBuffer buffer = gpu.buffer(backend, bytes);
        get(buffer.upload(0, ByteBuffer.wrap(random(bytes, seed))));
        return buffer;
    }

    static AtomicBoolean seen(Mono<Void> end) {
        AtomicBoolean seen = new AtomicBoolean();
        end.subscribe(nothing -> {}, e -> {}, () -> seen.set(true));
        return seen;
    }

    private static void assertNothingIsAt(URI uri) {
        Path socket = Path.of(uri.getPath());
        await(() -> !Files.exists(socket) && !Files.exists(socket.getParent()));
    }

    @Test
    void bytesGoBothWaysByTransfersAndCopies() throws IOException {
        byte[] theirs = random(BYTES, 1);
        byte[] ours = random(BYTES, 2);
        DeviceBuffer imported = opened(exported(BYTES, 1));
        assertThat(imported.length()).isEqualTo(BYTES);
        assertThat(content(imported)).isEqualTo(theirs);

        StorageFile to = gpu.open(backend, folder.resolve("to"), FileOption.WRITE, FileOption.CREATE);
        move(backend, Transfer.write(imported.all(), to.region(0, BYTES)));
        assertThat(Files.readAllBytes(folder.resolve("to"))).isEqualTo(theirs);
        StorageFile from = gpu.open(backend, gpu.file("from", ours));
        move(backend, Transfer.read(from.all(), imported.all()));
        assertThat(peer.ask("sum 0")).isEqualTo("" + IpcPeer.sum(ours));

        DeviceBuffer own = filled(BYTES, 3);
        move(backend, Transfer.copy(own.all(), imported.all()));
        assertThat(peer.ask("sum 0")).isEqualTo("" + IpcPeer.sum(random(BYTES, 3)));
        DeviceBuffer another = gpu.buffer(backend, BYTES);
        move(backend, Transfer.copy(imported.all(), another.all()));
        assertThat(content(another)).isEqualTo(random(BYTES, 3));
    }

    @Test
    void buffersInsideOneAllocationAreOpenedWhereTheyAre() {
        URI first = exported(5000, 1);
        URI second = exported(5000, 2);
        DeviceBuffer there = opened(second);
        DeviceBuffer here = opened(first);
        assertThat(content(there)).isEqualTo(random(5000, 2));
        assertThat(content(here)).isEqualTo(random(5000, 1));
        get(there.upload(0, ByteBuffer.wrap(random(5000, 3))));
        there.close();
        assertThat(content(here)).isEqualTo(random(5000, 1));
        assertThat(peer.ask("sum 0")).isEqualTo("" + IpcPeer.sum(random(5000, 1)));
        assertThat(peer.ask("sum 1")).isEqualTo("" + IpcPeer.sum(random(5000, 3)));
    }

    @Test
    void required_202_exportedMemoryIsKeptUntilItsImporterHasClosedIt() {
        URI uri = exported(BYTES, 4);
        DeviceBuffer imported = opened(uri);
        AtomicBoolean revoked = seen(imported.revoked());
        assertThat(peer.ask("close 0")).isEqualTo("closed");
        assertThat(revoked).as("revoked by closing the buffer").isFalse();
        assertThat(peer.ask("revoke 0")).isEqualTo("closed");
        await(revoked::get);
        assertThat(peer.ask("released 0")).isEqualTo("false");
        assertThat(peer.ask("left")).isEqualTo("1");
        assertThat(content(imported)).isEqualTo(random(BYTES, 4));
        assertNothingIsAt(uri);
        imported.close();
        await(() -> peer.ask("released 0").equals("true"));
        await(() -> peer.ask("left").equals("0"));
    }

    @Test
    void anImporterThatClosesFirstLeavesTheExportOpen() {
        URI uri = exported(BYTES, 5);
        DeviceBuffer imported = opened(uri);
        AtomicBoolean revoked = seen(imported.revoked());
        imported.close();
        DeviceBuffer again = opened(uri);
        assertThat(content(again)).isEqualTo(random(BYTES, 5));
        again.close();
        assertThat(revoked).isFalse();
        assertThat(peer.ask("released 0")).isEqualTo("false");
        peer.ask("revoke 0");
        await(() -> peer.ask("released 0").equals("true"));
        assertNothingIsAt(uri);
    }

    @Test
    void theDeathOfAnExporterRevokesItsMemory() {
        URI uri = exported(BYTES, 6);
        DeviceBuffer imported = opened(uri);
        AtomicBoolean revoked = seen(imported.revoked());
        assertThat(content(imported)).isEqualTo(random(BYTES, 6));
        assertThat(revoked).isFalse();
        peer.kill();
        await(revoked::get);
        imported.close();
        assertNothingIsAt(uri);
        assertThatThrownBy(() -> opened(uri))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("the export has ended");
    }

    @Test
    void required_202_theDeathOfAnImporterReleasesTheMemory() {
        DeviceBuffer buffer = filled(BYTES, 7);
        PeerExport export = gpu.keep(buffer.exportPeer());
        assertThat(peer.ask("open " + export.uri())).isEqualTo("" + BYTES);
        assertThat(peer.ask("sum 0")).isEqualTo("" + IpcPeer.sum(random(BYTES, 7)));
        AtomicBoolean released = seen(export.released());
        buffer.close();
        export.close();
        assertThat(peer.ask("revoked 0")).isEqualTo("revoked");
        assertThat(released).as("released while another process has it open").isFalse();
        assertThat(backend.counters().buffers()).isEqualTo(1);
        peer.kill();
        await(released::get);
        await(() -> backend.counters().buffers() == 0);
    }

    @Test
    void required_601_closingABackendRevokesWhatItExports() {
        DeviceBuffer buffer = filled(BYTES, 8);
        URI uri = buffer.exportPeer().uri();
        assertThat(peer.ask("open " + uri)).isEqualTo("" + BYTES);
        AtomicBoolean closed = seen(backend.closeLater());
        assertThat(peer.ask("revoked 0")).isEqualTo("revoked");
        assertThat(closed)
                .as("closed while another process has the memory open")
                .isFalse();
        assertThat(peer.ask("close 0")).isEqualTo("closed");
        await(closed::get);
        assertNothingIsAt(uri);
    }

    @Test
    void whatHasEndedOrIsNotOfAnotherProcessIsNotOpened() {
        URI ended = exported(4096, 9);
        peer.ask("revoke 0");
        assertThatThrownBy(() -> opened(ended))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("the export has ended");
        PeerExport own = gpu.keep(gpu.buffer(backend, 4096).exportPeer());
        assertThatThrownBy(() -> opened(own.uri()))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("it is an export of this process");
        assertThatThrownBy(() -> backend.openBuffer(URI.create("ucx://localhost:1/x")))
                .isInstanceOf(IllegalArgumentException.class);
        own.close();
        own.close();
        assertThatThrownBy(own::uri).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void importedMemoryIsNotExportedAgain() {
        DeviceBuffer imported = opened(exported(4096, 10));
        PeerExport export = gpu.keep(imported.exportPeer());
        assertThatThrownBy(export::uri)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("cuIpcGetMemHandle");
    }
}
