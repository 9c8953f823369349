// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.cufile.ffi.Cuda;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import uk.ac.manchester.tornado.api.common.Access;
import uk.ac.manchester.tornado.api.common.LibraryTaskDescriptor;
import uk.ac.manchester.tornado.runtime.common.TornadoXPUDevice;
import uk.ac.manchester.tornado.runtime.library.spi.LibraryContext;
import uk.ac.manchester.tornado.runtime.library.spi.LibraryInvocation;
import uk.ac.manchester.tornado.runtime.library.spi.TornadoNativeStreamSupport;

/** The recipe for TornadoVM, called as its interpreter calls a library, over the fake of libcuda. */
@ExtendWith(FreshFakes.class)
class TornadoReadsTest {

    private static final int BYTES = 3_000_000;
    private static final long PLAN = 7;

    /** A device of TornadoVM's, with a context and a stream of its own. */
    private record Device(long context, long stream) implements TornadoXPUDevice, TornadoNativeStreamSupport {

        @Override
        public long getNativeStream(long executionPlanId) {
            return executionPlanId == PLAN ? stream : 0;
        }

        @Override
        public long getNativeContext(long executionPlanId) {
            return executionPlanId == PLAN ? context : 0;
        }
    }

    @TempDir
    Path folder;

    private OtherContext tornado;
    private long stream;
    private long array;

    @BeforeEach
    void start() {
        System.setProperty("penstock.cufile.libcuda", Fakes.libcuda().toString());
        System.setProperty("penstock.cufile.libcufile", Fakes.libcufile().toString());
        tornado = new OtherContext(0);
        array = tornado.allocate(BYTES);
        stream = tornado.current(() -> {
            long[] made = new long[1];
            assertThat(Cuda.DRIVER.streamCreate(made, 1)).isZero();
            return made[0];
        });
    }

    @AfterEach
    void end() {
        System.clearProperty("penstock.cufile.libcuda");
        System.clearProperty("penstock.cufile.libcufile");
        assertThat(tornado.current(() -> Cuda.DRIVER.streamDestroy(stream))).isZero();
        tornado.free(array);
        tornado.close();
        for (String kind : new String[] {"contexts", "streams", "events", "allocations", "pinned"}) {
            assertThat(Fakes.cuda().awaitLive(kind, 0)).as(kind).isZero();
        }
    }

    private byte[] content() {
        Function copy = NativeLibrary.getInstance(Fakes.libcuda().toString()).getFunction("cuMemcpyDtoH_v2");
        try (Memory memory = new Memory(BYTES)) {
            Object[] arguments = {memory, array, (long) BYTES};
            assertThat(tornado.current(() -> copy.invokeInt(arguments)).intValue())
                    .isZero();
            return memory.getByteArray(0, BYTES);
        }
    }

    @Test
    void aTaskFillsAnArrayInItsPlansStream() throws Exception {
        byte[] bytes = GpuFixture.random(BYTES + 100, 3);
        Path file = Files.write(folder.resolve("weights"), bytes);
        LibraryTaskDescriptor task = TornadoReads.read("an array", new TornadoReads.Part(file, 100, BYTES));
        assertThat(task.getAccess()).containsExactly(Access.WRITE_ONLY);

        TornadoReads library = new TornadoReads();
        assertThat(library.libraryName()).isEqualTo(task.getLibraryName());
        Device device = new Device(tornado.handle(), stream);
        assertThat(library.canHandle(device)).isTrue();
        assertThat(library.canHandle(new TornadoXPUDevice() {})).isFalse();
        LibraryContext context = library.createContext(device, PLAN);
        try {
            library.dispatch(
                    task.getFunctionName(),
                    new LibraryInvocation(new long[] {array}, context, task.getTuning(), false));
            assertThat(content()).isEqualTo(Arrays.copyOfRange(bytes, 100, BYTES + 100));

            TornadoReads.Part tooLong = new TornadoReads.Part(file, 200, BYTES);
            assertThatThrownBy(() -> library.dispatch(
                            "read", new LibraryInvocation(new long[] {array}, context, tooLong, false)))
                    .hasMessageEndingWith(" has only " + (BYTES - 100) + " bytes");
            assertThatThrownBy(() -> library.dispatch(
                            "read", new LibraryInvocation(new long[] {array}, context, task.getTuning(), true)))
                    .hasMessage("a CUDA graph cannot read files");
        } finally {
            library.destroyContext(context);
        }
    }
}
