// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static io.penstock.formats.LoaderTest.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tensors of DLPack, taken over by a library in C. */
class DlTensorTest {

    /** What {@link DlTensor#lend} wants of the application: one function for all tensors, which is never freed. */
    interface Deleter extends Callback {
        void deleted(Pointer tensor);
    }

    private static final Deleter DELETER = tensor -> DlTensor.deleted(Pointer.nativeValue(tensor));

    private static Backend backend;

    @TempDir
    static Path folder;

    @BeforeAll
    static void open() {
        backend = Backends.open("host");
    }

    @AfterAll
    static void close() {
        backend.close();
    }

    private static NativeLibrary library() throws IOException, InterruptedException {
        Path source = Path.of(System.getProperty("basedir", ""), "src/test/c/dlpack_consumer.c");
        Path library = folder.resolve("dlpack_consumer.so");
        String complaint;
        try {
            Process cc = new ProcessBuilder(
                            "cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library.toString(), source.toString())
                    .redirectErrorStream(true)
                    .start();
            complaint = new String(cc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(cc.waitFor()).as(complaint).isZero();
        } catch (IOException e) {
            Require.backend("cc", "no C compiler: " + e.getMessage());
        }
        return NativeLibrary.getInstance(library.toString());
    }

    private static long deleter() {
        return Pointer.nativeValue(CallbackReference.getFunctionPointer(DELETER));
    }

    private static DeviceBuffer memory(DlTensor tensor) {
        return backend.wrap(ByteBuffer.allocateDirect(tensor.bytes()));
    }

    private static String take(NativeLibrary library, long address) {
        byte[] text = new byte[256];
        library.getFunction("take").invokeVoid(new Object[] {new Pointer(address), text, (long) text.length});
        return new String(text, StandardCharsets.UTF_8).trim();
    }

    private static double number(NativeLibrary library, long row, long column) {
        return library.getFunction("number").invokeDouble(new Object[] {row, column});
    }

    private static Path floats(int rows, int columns) throws IOException {
        return Files.write(Files.createTempFile(folder, "v", ".fvecs"), VecsReaderTest.floats(rows, columns));
    }

    @Test
    void aLibraryTakesAMatrixOverAndEndsItOnce() throws Exception {
        NativeLibrary library = library();
        for (boolean gaps : new boolean[] {false, true}) {
            Loader loader = gaps ? Loader.of(backend).keepGaps() : Loader.of(backend);
            LoadedArrays loaded = get(loader.load(floats(1000, 3)));
            DeviceArray array = loaded.arrays().get(0);
            AtomicInteger released = new AtomicInteger();
            DlTensor tensor = new DlTensor(array, DlTensor.CPU, 0, () -> {
                released.incrementAndGet();
                loaded.close();
            });
            DeviceBuffer memory = memory(tensor);
            String text = take(library, tensor.lend(memory, deleter()));
            assertThat(text).isEqualTo("device 1:0, type 2:32:1, 1000 by " + (gaps ? 4 : 3) + " 3 by 1");
            assertThat(number(library, 0, 0)).isEqualTo(0);
            assertThat(number(library, 999, 2)).isEqualTo(999 * 3 + 2);
            assertThat(released).hasValue(0);
            assertThat(array.region().buffer().hostView().orElseThrow().get(0)).isZero(); // is open

            library.getFunction("end").invokeVoid(new Object[0]);

            assertThat(released).hasValue(1);
            assertThatThrownBy(() ->
                            array.region().buffer().hostView().orElseThrow().get(0))
                    .isInstanceOf(ClosedException.class);
            assertThatThrownBy(() -> memory.hostView().orElseThrow().get(0)).isInstanceOf(ClosedException.class);
            tensor.close();
            DlTensor.deleted(1);
            assertThat(released).hasValue(1);
        }
    }

    /** Such as a library that fails: what it has not ended is taken back. */
    @Test
    void aTensorThatTheLibraryNeverEndsIsTakenBack() throws Exception {
        NativeLibrary library = library();
        LoadedArrays loaded = get(Loader.of(backend).load(floats(2, 2)));
        AtomicInteger released = new AtomicInteger();
        DlTensor tensor = new DlTensor(loaded.arrays().get(0), DlTensor.CPU, 0, released::incrementAndGet);
        long address = tensor.lend(memory(tensor), deleter());
        take(library, address);
        assertThat(released).hasValue(0);
        tensor.close();
        assertThat(released).hasValue(1);
        DlTensor.deleted(address);
        assertThat(released).hasValue(1);
        loaded.close();
    }

    @Test
    void aTensorIsLentOnce() throws Exception {
        try (LoadedArrays loaded = get(Loader.of(backend).load(floats(2, 2)))) {
            DlTensor tensor = new DlTensor(loaded.arrays().get(0), DlTensor.CPU, 0, () -> {});
            try (DeviceBuffer second = memory(tensor);
                    DeviceBuffer small = backend.wrap(ByteBuffer.allocateDirect(tensor.bytes() - 1))) {
                assertThatThrownBy(() -> tensor.lend(small, 1)).isInstanceOf(IndexOutOfBoundsException.class);
                tensor.lend(memory(tensor), 1);
                assertThatThrownBy(() -> tensor.lend(second, 1)).isInstanceOf(IllegalStateException.class);
                tensor.close();
                assertThatThrownBy(() -> tensor.lend(second, 1)).isInstanceOf(IllegalStateException.class);
            }
        }
    }

    private static DeviceArray array(
            DeviceBuffer buffer, ElementType type, ByteOrder byteOrder, Array.Order order, Long... shape) {
        List<Long> all = List.of(shape);
        return new DeviceArray("a", type, all, byteOrder, order, buffer.region(0, Array.bytes(type, all)));
    }

    @Test
    void stridesAreOfTheOrder() {
        try (DeviceBuffer buffer = get(backend.allocate(1 << 10))) {
            DeviceArray rows =
                    array(buffer, ElementType.BF16, ByteOrder.LITTLE_ENDIAN, Array.Order.ROW_MAJOR, 2L, 3L, 4L);
            assertThat(new DlTensor(rows, DlTensor.CPU, 0, () -> {}).strides()).containsExactly(12L, 4L, 1L);
            DeviceArray columns =
                    array(buffer, ElementType.BF16, ByteOrder.LITTLE_ENDIAN, Array.Order.COLUMN_MAJOR, 2L, 3L, 4L);
            assertThat(new DlTensor(columns, DlTensor.CPU, 0, () -> {}).strides())
                    .containsExactly(1L, 2L, 6L);
            DeviceArray scalar = array(buffer, ElementType.F64, ByteOrder.LITTLE_ENDIAN, Array.Order.ROW_MAJOR);
            assertThat(new DlTensor(scalar, DlTensor.CPU, 0, () -> {}).strides())
                    .isEmpty();
        }
    }

    /** A handle has no offsets, as an address has: {@code byte_offset} has it. */
    @Test
    void anOffsetIsInTheAddressOrBesideAHandle() {
        try (DeviceBuffer buffer = get(backend.allocate(1 << 10))) {
            DeviceArray array = DeviceArray.of("a", ElementType.C64, List.of(2L), buffer.region(256, 16));
            int openCl = 4;
            for (int device : new int[] {DlTensor.CUDA, openCl}) {
                try (DlTensor tensor = new DlTensor(array, device, 3, () -> {})) {
                    ByteBuffer bytes = ByteBuffer.allocateDirect(tensor.bytes()).order(ByteOrder.nativeOrder());
                    long address = tensor.lend(backend.wrap(bytes), 7);
                    boolean handle = device == openCl;
                    assertThat(bytes.getLong(0)).isEqualTo(buffer.nativeHandle() + (handle ? 0 : 256));
                    assertThat(bytes.getInt(8)).isEqualTo(device);
                    assertThat(bytes.getInt(12)).isEqualTo(3);
                    assertThat(bytes.getInt(16)).isEqualTo(1); // dimension
                    assertThat(bytes.get(20)).isEqualTo((byte) 5); // complex
                    assertThat(bytes.get(21)).isEqualTo((byte) 64);
                    assertThat(bytes.getLong(24)).isEqualTo(address + 64);
                    assertThat(bytes.getLong(32)).isEqualTo(address + 72);
                    assertThat(bytes.getLong(40)).isEqualTo(handle ? 256 : 0);
                    assertThat(bytes.getLong(56)).isEqualTo(7);
                    assertThat(bytes.getLong(64)).isEqualTo(2);
                    assertThat(bytes.getLong(72)).isEqualTo(1);
                }
            }
        }
    }

    @Test
    void whatDlPackHasNotIsRefused() {
        try (DeviceBuffer buffer = get(backend.allocate(1 << 10))) {
            DeviceArray big = array(buffer, ElementType.F32, ByteOrder.BIG_ENDIAN, Array.Order.ROW_MAJOR, 2L);
            assertThatThrownBy(() -> new DlTensor(big, DlTensor.CPU, 0, () -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageEndingWith("a F32 [2] is in BIG_ENDIAN");
            ElementType blocks = new ElementType("Q4_0", 32, 18);
            DeviceArray quantized = DeviceArray.of("a", blocks, List.of(32L), buffer.region(0, 18));
            assertThatThrownBy(() -> new DlTensor(quantized, DlTensor.CPU, 0, () -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("must have numbers or booleans in LITTLE_ENDIAN");
            DeviceArray odd = new DeviceArray(
                    "a",
                    ElementType.F32,
                    List.of(2L, 2L),
                    ByteOrder.LITTLE_ENDIAN,
                    Array.Order.ROW_MAJOR,
                    buffer.region(0, 17),
                    9);
            assertThatThrownBy(() -> new DlTensor(odd, DlTensor.CPU, 0, () -> {}))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageEndingWith("with rows every 9 bytes");
        }
    }
}
