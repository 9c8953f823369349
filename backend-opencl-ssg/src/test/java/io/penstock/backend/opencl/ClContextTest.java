// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static io.penstock.backend.opencl.OpenClFixture.await;
import static io.penstock.backend.opencl.OpenClFixture.content;
import static io.penstock.backend.opencl.OpenClFixture.random;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.opencl.ffi.OpenCl;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Contexts of the backend and of the application, and the application's buffers. */
class ClContextTest {

    @TempDir
    Path folder;

    private OpenClFixture device;
    private Application application;

    @BeforeAll
    static void require() {
        OpenCls.require();
    }

    @BeforeEach
    void start() {
        device = new OpenClFixture(folder);
        application = new Application();
    }

    @AfterEach
    void nothingLeaks() {
        device.close();
        await(() -> application.references() == 3); // itself, its queue, its user event
        application.close();
    }

    private Backend backend(OpenClPath path) {
        return device.backend(application.options().with(OpenClOptions.PATH, path));
    }

    private StorageFile file(Backend backend, byte[] bytes) {
        return device.open(backend, device.file("data", bytes), FileOption.READ, FileOption.WRITE);
    }

    @Test
    void backendsInOneContextShareItAndTheLastOneReleasesIt() {
        Backend first = backend(OpenClPath.AUTO);
        int references = application.references();
        assertThat(references).isGreaterThan(3);
        Backend second = backend(OpenClPath.AUTO);
        second.close();
        assertThat(application.references()).as("held once").isEqualTo(references);
        first.close();
        await(() -> application.references() == 3);
        first.close();
        assertThat(application.references()).isEqualTo(3);
    }

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAP"})
    void theApplicationsBuffersAreReadAndWrittenAndHeldMeanwhile(OpenClPath path) {
        int size = 3_000_001;
        byte[] bytes = random(size, 1);
        Backend backend = backend(path);
        StorageFile file = file(backend, bytes);
        for (long flags : new long[] {0, OpenCl.CL_MEM_ALLOC_HOST_PTR, OpenCl.CL_MEM_READ_ONLY}) {
            long memory = application.buffer(size + 77, flags);
            DeviceBuffer wrapped = backend.wrap(memory, size);
            assertThat(wrapped.nativeHandle()).isEqualTo(memory);
            assertThat(Application.references(memory)).isEqualTo(2);
            OpenClFixture.move(backend, Transfer.read(file.all(), wrapped.all()));
            assertThat(content(wrapped)).isEqualTo(bytes);
            StorageFile out = device.open(
                    backend, folder.resolve("out" + flags), FileOption.READ, FileOption.WRITE, FileOption.CREATE);
            OpenClFixture.move(backend, Transfer.write(wrapped.all(), out.region(0, size)));
            assertThat(out.path()).hasBinaryContent(bytes);
            wrapped.close();
            await(() -> Application.references(memory) == 1);
            assertThat(OpenCl.clReleaseMemObject(memory)).isZero();
        }
    }

    @Test
    void aBufferThatLiesAnywhereIsStagedWhereTheFileWantsBlocks() {
        byte[] bytes = random(1 << 20, 2);
        Backend backend = backend(OpenClPath.AUTO);
        Path path = device.file("data", bytes);
        StorageFile file = device.open(backend, path, FileOption.READ, FileOption.DIRECT);
        long memory = application.buffer(bytes.length, OpenCl.CL_MEM_ALLOC_HOST_PTR);
        DeviceBuffer wrapped = device.keep(backend.wrap(memory, bytes.length));
        DeviceBuffer ours = device.buffer(backend, bytes.length);
        Transfer toOurs = Transfer.read(file.all(), ours.all());
        Transfer toTheirs = Transfer.read(file.all(), wrapped.all());
        assertThat(backend.explain(toOurs).path())
                .isNotEqualTo(backend.explain(toTheirs).path());
        OpenClFixture.move(backend, toOurs);
        OpenClFixture.move(backend, toTheirs);
        assertThat(content(ours)).isEqualTo(bytes);
        assertThat(content(wrapped)).isEqualTo(bytes);
        assertThat(OpenCl.clReleaseMemObject(memory)).isZero();
    }

    @Test
    void memoryThatCannotBeWrappedIsRefused() {
        Backend backend = backend(OpenClPath.STAGED);
        long small = application.buffer(4096, 0);
        long closed = application.buffer(4096, OpenCl.CL_MEM_HOST_NO_ACCESS);
        assertThatThrownBy(() -> backend.wrap(0, 4096))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("CL_INVALID_MEM_OBJECT");
        assertThatThrownBy(() -> backend.wrap(small, 4097))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("has 4096 bytes, not 4097");
        assertThatThrownBy(() -> backend.wrap(closed, 4096))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("CL_MEM_HOST_NO_ACCESS");
        assertThatThrownBy(() -> backend.wrap(ByteBuffer.allocateDirect(64)))
                .isInstanceOf(IllegalArgumentException.class);
        Backend another = device.backend(Options.none());
        assertThatThrownBy(() -> another.wrap(small, 4096))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("another cl_context")
                .hasMessageContaining("penstock.opencl.context");
        assertThat(Application.references(small)).isEqualTo(1);
        OpenCl.clReleaseMemObject(small);
        OpenCl.clReleaseMemObject(closed);
    }

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAP"})
    void aCallThatTheDriverRefusesIsAnErrorWithItsAnswerAndTheNextTransferWorks(OpenClPath path) {
        Backend backend = backend(path);
        StorageFile file = file(backend, random(4096, 3));
        long memory = application.buffer(4096, OpenCl.CL_MEM_HOST_READ_ONLY);
        DeviceBuffer refusing = device.keep(backend.wrap(memory, 4096));
        String call = path == OpenClPath.MAP ? "clEnqueueMapBuffer" : "clEnqueueWriteBuffer";
        for (int round = 0; round < 300; round++) {
            assertThatThrownBy(() -> OpenClFixture.move(backend, Transfer.read(file.all(), refusing.all())))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("read of 4096 bytes at 0 of " + file.path() + " failed: " + call
                            + " -> CL_INVALID_OPERATION (-59)");
        }
        DeviceBuffer willing = device.buffer(backend, 4096);
        assertThat(OpenClFixture.move(backend, Transfer.read(file.all(), willing.all()))
                        .bytes())
                .isEqualTo(4096);
        OpenCl.clReleaseMemObject(memory);
    }
}
