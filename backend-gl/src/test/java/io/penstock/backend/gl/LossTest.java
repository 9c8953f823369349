// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.DeviceFence;
import io.penstock.DeviceLostException;
import io.penstock.FileOption;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.gl.fakes.FreshSsg;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.options.GlPath;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** What ends under transfers: the context, as a layer reports; buffers and fences, closed by the application. */
@ExtendWith(FreshSsg.class)
class LossTest {

    @TempDir
    Path folder;

    private GlFixture fixture;
    private Application application;

    @BeforeEach
    void start() {
        fixture = new GlFixture(folder);
        application = new Application();
    }

    @AfterEach
    void nothingIsLeft() {
        SsgFake.set("reset_status", 0);
        fixture.close();
        application.close();
    }

    private Backend backend(GlPath path) {
        return fixture.keep(GlBackends.sharing(application.display(), application.context(), GlFixture.options(path)));
    }

    @ParameterizedTest
    @CsvSource({
        "0x8253, GL_GUILTY_CONTEXT_RESET",
        "0x8254, GL_INNOCENT_CONTEXT_RESET",
        "0x8255, GL_UNKNOWN_CONTEXT_RESET"
    })
    void aContextThatIsLostFailsTransfersByItsReason(int status, String symbol) {
        Backend backend = backend(GlPath.STAGED);
        StorageFile file = fixture.open(backend, "data", GlFixture.random(300_000, 1));
        DeviceBuffer buffer = fixture.buffer(backend, 300_000);
        SsgFake.set("reset_status", status);
        assertThatThrownBy(() -> GlFixture.move(backend, Transfer.read(file.all(), buffer.all())))
                .isInstanceOf(DeviceLostException.class)
                .hasMessageContaining(symbol);
        buffer.revoked().block(GlFixture.LONG);
    }

    @Test
    void aContextThatIsLostFailsAllocationsAndCopies() {
        Backend backend = backend(GlPath.STAGED);
        DeviceBuffer buffer = fixture.buffer(backend, 4096);
        SsgFake.set("reset_status", GlError.GUILTY_CONTEXT_RESET);
        assertThatThrownBy(() -> GlFixture.get(backend.allocate(4096))).isInstanceOf(DeviceLostException.class);
        buffer.revoked().block(GlFixture.LONG);
        assertThatThrownBy(() -> GlFixture.get(buffer.download(0, ByteBuffer.allocate(4096))))
                .isInstanceOf(DeviceLostException.class);
    }

    @ParameterizedTest
    @EnumSource(names = {"HOST", "STAGED"})
    void aTransferBehindAFenceOfALostContextEnds(GlPath path) {
        Backend backend = backend(path);
        StorageFile file = fixture.open(backend, "data", GlFixture.random(4096, 1));
        DeviceBuffer buffer = fixture.buffer(backend, 4096);
        long drawn = application.drawSlowly(buffer.nativeHandle());
        DeviceFence drawing = fixture.keep(backend.fence(drawn));
        Mono<Completion> read = backend.submit(
                        Transfer.read(file.all(), buffer.all()).after(drawing))
                .cache();
        read.subscribe(done -> {}, failed -> {});
        SsgFake.set("reset_status", GlError.UNKNOWN_CONTEXT_RESET);
        // It ends: by the loss, or by a byte of the host's in a map that no context is needed for.
        assertThat(read.materialize().block(GlFixture.LONG)).isNotNull();
        SsgFake.set("reset_status", 0);
        application.deleteFence(drawn);
    }

    @ParameterizedTest
    @CsvSource({"true", "false"})
    void aBufferThatTheApplicationHasDeletedFailsTheNextTransfer(boolean read) {
        Backend backend = backend(GlPath.STAGED);
        Path path = fixture.file("data", GlFixture.random(70_000, 1));
        int name = application.buffer(new byte[70_000]);
        try (DeviceBuffer wrapped = backend.wrap(name, 70_000);
                StorageFile file = GlFixture.get(backend.openFile(path, FileOption.READ, FileOption.WRITE))) {
            Transfer transfer =
                    read ? Transfer.read(file.all(), wrapped.all()) : Transfer.write(wrapped.all(), file.all());
            assertThat(GlFixture.move(backend, transfer).bytes()).isEqualTo(70_000);
            application.delete(name);
            assertThatThrownBy(() -> GlFixture.move(backend, transfer))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("glCopyBufferSubData -> GL_INVALID_");
        }
    }

    @Test
    void aBufferThatIsDeletedDuringATransferEndsOrFailsIt() {
        Backend backend = backend(GlPath.STAGED);
        int bytes = 64 << 20;
        StorageFile file = fixture.open(backend, "data", new byte[bytes]);
        int name = application.buffer(new byte[bytes]);
        try (DeviceBuffer wrapped = backend.wrap(name, bytes)) {
            Mono<Completion> read =
                    backend.submit(Transfer.read(file.all(), wrapped.all())).cache();
            read.subscribe(done -> {}, failed -> {});
            application.delete(name);
            // Copies that came before the deletion are as they should be; the first behind it is refused.
            var end = read.materialize().block(GlFixture.LONG);
            assertThat(end).isNotNull();
            assertThat(end.getThrowable())
                    .satisfiesAnyOf(
                            none -> assertThat(none).isNull(),
                            refused -> assertThat(refused).isInstanceOf(PermanentStorageException.class));
        }
    }
}
