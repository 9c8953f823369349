// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.fakes.FreshSsg;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.paths.OpenClProvider;
import io.penstock.backend.opencl.ssg.PersistentMemory;
import io.penstock.engine.spi.staging.StagingOptions;
import io.penstock.engine.testing.BackendFixture;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import reactor.core.Exceptions;
import reactor.core.scheduler.NonBlocking;
import reactor.core.scheduler.Schedulers;

/** Which memory files are read straight into, and what is done about the rest. */
@ExtendWith(FreshSsg.class)
class SsgMemoryTest {

    private static final int BYTES = 64 << 10;
    private static final int CL_BUFFER_CREATE_TYPE_REGION = 0x1220;

    private static void assertComesThere(SsgFixture ssg, long memory, boolean byRing) throws IOException {
        byte[] bytes = BackendFixture.random(BYTES, memory);
        try (DeviceBuffer buffer = ssg.backend().wrap(memory, BYTES)) {
            Completion done = ssg.read(ssg.file("wrapped", bytes), buffer);
            assertThat(done.path()).isEqualTo(TransferPath.DIRECT);
            assertThat(done.reason().contains("a copy on the device")).isEqualTo(byRing);
            assertThat(BackendFixture.content(buffer)).isEqualTo(bytes);
        } finally {
            OpenCl.clReleaseMemObject(memory);
        }
    }

    @Test
    void buffersOfTheBackendArePersistentAsLongAsThereIsSuchMemory() throws IOException {
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            long ring = ssg.control.live("persistent_bytes");
            assertThat(ring).isEqualTo(128 << 10);
            DeviceBuffer first = ssg.buffer(1 << 20);
            DeviceBuffer second = ssg.buffer(BYTES);
            assertThat(ssg.control.live("persistent_bytes")).isEqualTo(ring + (1 << 20));
            assertThat(PersistentMemory.HEAP.used()).isEqualTo(ring + (1 << 20));
            StorageFile file = ssg.file("heap", new byte[BYTES]);
            assertThat(ssg.run(Transfer.read(file.all(), first.region(0, BYTES)))
                            .reason())
                    .doesNotContain("through");
            assertThat(ssg.run(Transfer.read(file.all(), second.all())).reason())
                    .contains("through 128 KiB of persistent memory");
            first.close();
            assertThat(ssg.control.awaitLive("persistent_bytes", ring)).isEqualTo(ring);
        }
        assertThat(PersistentMemory.HEAP.used()).isZero();
    }

    @Test
    void aBufferIsReleasedAlsoWhereNoThreadTakesTheCall() throws InterruptedException {
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            long ring = ssg.control.live("persistent_bytes");
            DeviceBuffer buffer = ssg.buffer(1 << 20);
            Schedulers.onScheduleHook("rejects", task -> {
                if (Thread.currentThread() instanceof NonBlocking) {
                    throw Exceptions.failWithRejected();
                }
                return task;
            });
            try {
                Thread thread = new NonBlockingThread(buffer::close);
                thread.start();
                thread.join();
            } finally {
                Schedulers.resetOnScheduleHook("rejects");
            }
            assertThat(ssg.control.awaitLive("persistent_bytes", ring)).isEqualTo(ring);
        }
    }

    private static final class NonBlockingThread extends Thread implements NonBlocking {
        NonBlockingThread(Runnable run) {
            super(run);
        }
    }

    @Test
    void theDriversHeapIsNeverUsedUpByUs() {
        SsgFake.set("persistent_heap", (1 << 20) + (128 << 10));
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            for (int i = 0; i < 20; i++) {
                ssg.buffer(128 << 10);
            }
            assertThat(ssg.control.live("fallbacks")).as("silent fallbacks").isZero();
        }
    }

    @Test
    void allPersistentMemoryIsTouchedByTheDeviceBeforeItIsUsed() throws IOException {
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            assertThat(ssg.control.calls("clEnqueueFillBuffer"))
                    .as("for the ring")
                    .isEqualTo(2);
            DeviceBuffer buffer = ssg.buffer(BYTES);
            assertThat(ssg.control.calls("clEnqueueFillBuffer")).isEqualTo(3);
            ssg.read(ssg.file("touched", new byte[BYTES]), buffer);
            assertThat(ssg.control.live("unreferenced")).isZero();
        }
    }

    @Test
    void aBufferWithOneOfTheThreeFlagsIsReadIntoStraight() throws IOException {
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            assertComesThere(ssg, ssg.memory(OpenCl.CL_MEM_ALLOC_HOST_PTR, BYTES), false);
        }
    }

    @Test
    void aPartOfABufferIsReadThroughTheRing() throws IOException {
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            long whole = ssg.memory(OpenCl.CL_MEM_ALLOC_HOST_PTR, 2 * BYTES);
            Memory region = new Memory(16);
            region.setLong(0, BYTES);
            region.setLong(8, BYTES);
            Memory error = new Memory(4);
            long part = NativeLibrary.getInstance(OpenCl.LIBRARY.file())
                    .getFunction("clCreateSubBuffer")
                    .invokeLong(new Object[] {whole, 0L, CL_BUFFER_CREATE_TYPE_REGION, region, error});
            assertThat(error.getInt(0)).isZero();
            assertComesThere(ssg, part, true);
            OpenCl.clReleaseMemObject(whole);
        }
    }

    @Test
    void aBufferWithoutTheFlagsIsReadThroughTheRing() throws IOException {
        try (SsgFixture ssg = SsgFixture.open(SsgFixture.OPTIONS)) {
            assertComesThere(ssg, ssg.memory(OpenCl.CL_MEM_READ_WRITE, BYTES), true);
            long onlyRead = OpenCl.CL_MEM_ALLOC_HOST_PTR | OpenCl.CL_MEM_HOST_READ_ONLY;
            assertComesThere(ssg, ssg.memory(onlyRead, BYTES), true);
            assertThat(SsgFake.refusals()).isEmpty();
        }
    }

    @Test
    void aBackendThatCannotBeOpenedKeepsNothing() {
        Options odd =
                SsgFixture.OPTIONS.with(StagingOptions.BUFFER_BYTES, 5000L).resolve(Backends.options());
        assertThatThrownBy(() -> new OpenClProvider().open(odd))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("must be a multiple of 4096");
        FreshSsg.assertNothingLeft();
    }
}
