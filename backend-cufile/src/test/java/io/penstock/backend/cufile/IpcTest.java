// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static io.penstock.backend.cufile.GpuFixture.await;
import static io.penstock.backend.cufile.GpuFixture.content;
import static io.penstock.backend.cufile.GpuFixture.get;
import static io.penstock.backend.cufile.GpuFixture.move;
import static io.penstock.backend.cufile.GpuFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.PeerExport;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** On the fake, whose memory another process can map. */
@ExtendWith(FreshFakes.class)
class IpcTest extends IpcRules {

    @BeforeEach
    void open() throws IOException {
        Fakes.cuda().set("device_count", 2);
        gpu = new GpuFixture(folder);
        start(gpu.backend(CufilePath.STAGED), environment());
    }

    private static Map<String, String> environment() {
        return Map.of(
                "PENSTOCK_CUFILE_LIBCUDA",
                Fakes.libcuda().toString(),
                "PENSTOCK_CUFILE_LIBCUFILE",
                Fakes.libcufile().toString(),
                "PENSTOCK_CUFILE_PATH",
                "staged");
    }

    @Override
    void assertNothingLives() {
        for (String kind : List.of("contexts", "allocations", "imports", "pinned")) {
            await(() -> Fakes.cuda().live(kind) == 0);
        }
        if (peer.isAlive()) {
            assertThat(peer.ask("complaint " + Fakes.libcuda())).isEqualTo("none");
        }
    }

    @Test
    void required_201_revokedMemoryIsUnmappedAfterTheTransferInFlight() throws IOException {
        int bytes = 100_000;
        DeviceBuffer imported = opened(exported(bytes, 1));
        AtomicBoolean revoked = seen(imported.revoked());
        StorageFile to = gpu.open(backend, folder.resolve("to"), FileOption.WRITE, FileOption.CREATE);
        Fakes.cuda().hold("cuMemcpyDtoHAsync");
        AtomicBoolean written = seen(backend.submit(Transfer.write(imported.all(), to.region(0, bytes)))
                .then());
        assertThat(Fakes.cuda().awaitHeld("cuMemcpyDtoHAsync", 1)).isPositive();
        peer.ask("revoke 0");
        await(revoked::get);
        imported.close();
        gpu.letOthersRun(gpu.backend(CufilePath.STAGED));
        assertThat(Fakes.cuda().calls("cuIpcCloseMemHandle")).isZero();
        assertThat(peer.ask("released 0")).isEqualTo("false");
        Fakes.cuda().release("cuMemcpyDtoHAsync");
        await(written::get);
        await(() -> peer.ask("released 0").equals("true"));
        assertThat(Files.readAllBytes(folder.resolve("to"))).isEqualTo(random(bytes, 1));
    }

    @Test
    void memoryWithoutAHandleIsRefusedWithTheReason() {
        Fakes.cuda().set("no_ipc", 1);
        DeviceBuffer buffer = gpu.buffer(backend, 4096);
        PeerExport export = gpu.keep(buffer.exportPeer());
        assertThatThrownBy(export::uri)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("it must be of cuMemAlloc in this process; cuIpcGetMemHandle");
        export.close();
        assertThatThrownBy(export::uri).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void wrappedMemoryIsExportedFromItsPlaceInTheAllocation() {
        DeviceBuffer whole = filled(8192, 2);
        DeviceBuffer wrapped = gpu.keep(backend.wrap(whole.nativeHandle() + 512, 1024));
        PeerExport export = gpu.keep(wrapped.exportPeer());
        assertThat(peer.ask("open " + export.uri())).isEqualTo("1024");
        byte[] expected = new byte[1024];
        System.arraycopy(random(8192, 2), 512, expected, 0, 1024);
        assertThat(peer.ask("sum 0")).isEqualTo("" + IpcPeer.sum(expected));
        peer.ask("close 0");
    }

    @Test
    void memoryOfAnotherGpuIsCopiedByTheLinkBetweenThem() {
        URI uri = exported(4096, 3);
        try (var second = gpu.backend(GpuFixture.options(CufilePath.STAGED).with(CufileOptions.DEVICE, 1))) {
            DeviceBuffer own = gpu.buffer(second, 4096);
            DeviceBuffer imported = gpu.keep(get(second.openBuffer(uri)));
            move(second, Transfer.copy(imported.all(), own.all()));
            assertThat(content(own)).isEqualTo(random(4096, 3));
            imported.close();
            own.close();
        }
    }

    @Test
    void memoryOfAGpuThatIsNotReachedIsRefusedWithItsUuid() {
        URI uri = exported(4096, 3);
        Fakes.cuda().set("no_peers", 1);
        try (var second = gpu.backend(GpuFixture.options(CufilePath.STAGED).with(CufileOptions.DEVICE, 1))) {
            assertThatThrownBy(() -> get(second.openBuffer(uri)))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("it is memory of the GPU with UUID")
                    .hasMessageContaining("does not reach it: cuIpcOpenMemHandle");
        }
    }

    @Test
    void whatCudaRefusesIsReportedAndTheConnectionEnds() {
        URI uri = exported(4096, 4);
        Fakes.cuda().fail("cuIpcOpenMemHandle", 1, 400);
        Fakes.cuda().fail("cuIpcOpenMemHandle", 2, 201);
        assertThatThrownBy(() -> opened(uri))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("CUDA_ERROR_INVALID_HANDLE");
        assertThatThrownBy(() -> opened(uri))
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("in one context only");
        peer.ask("revoke 0");
        await(() -> peer.ask("released 0").equals("true"));
    }

    @Test
    void aCancelledOpeningLeavesNothingOpen() {
        URI uri = exported(4096, 5);
        for (int i = 0; i < 20; i++) {
            backend.openBuffer(uri).subscribe().dispose();
        }
        assertThat(content(opened(uri))).isEqualTo(random(4096, 5));
    }

    /** The end of a connection comes back while its importer closes it, and must not be taken for the exporter's. */
    @Test
    void importersThatComeAndGoLeaveTheExportOpen() {
        URI uri = exported(4096, 7);
        for (int i = 0; i < 300; i++) {
            DeviceBuffer imported = opened(uri);
            AtomicBoolean revoked = seen(imported.revoked());
            imported.close();
            assertThat(revoked).isFalse();
        }
        assertThat(content(opened(uri))).isEqualTo(random(4096, 7));
    }

    @Test
    void anExporterWithoutDescriptorsAcceptsWhenItHasThemAgain() throws Exception {
        Path log = folder.resolve("log");
        try (IpcPeer limited = IpcPeer.limited(environment(), 400, log)) {
            URI uri = URI.create(limited.ask("export 4096 6"));
            DeviceBuffer first = opened(uri); // stays open: its end would give the exporter a descriptor at any time
            assertThat(limited.ask("exhaust")).contains("Too many open files");
            CompletableFuture<DeviceBuffer> waiting = backend.openBuffer(uri).toFuture();
            await(() -> contains(log, "Too many open files"));
            assertThat(waiting).isNotDone();
            assertThat(limited.ask("restore")).isEqualTo("restored");
            DeviceBuffer imported = gpu.keep(waiting.get());
            assertThat(content(imported)).isEqualTo(random(4096, 6));
            imported.close();
            first.close();
            assertThat(limited.ask("reset")).isEqualTo("reset");
            await(() -> limited.ask("left").equals("0"));
        }
    }

    private static boolean contains(Path log, String text) {
        try {
            return Files.readString(log).contains(text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
