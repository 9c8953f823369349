// SPDX-License-Identifier: Apache-2.0
package io.penstock.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import ai.onnxruntime.OnnxJavaType;
import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxTensorLike;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtProvider;
import ai.onnxruntime.OrtSession;
import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BufferRegion;
import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Transfer;
import io.penstock.formats.Array;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.ElementType;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ONNX Runtime's CPU build over memory of the host backend. */
class OnnxTensorsTest {

    private static final float[] X = {1, 2, 3, -1, 0.5f, 4};
    private static final float[] W = {1, -1, 2, 0, 0, 3, -2, 1, 5, 1, 1, -1};
    private static final float[] B = {0.5f, -100, 0, 7};
    /** {@code relu(x w + b)}. */
    private static final float[] Y = {16.5f, 0, 1, 6, 19.5f, 0, 1, 3.5f};

    @TempDir
    Path folder;

    private OrtEnvironment environment;
    private Backend backend;

    /**
     * Why ONNX Runtime cannot be used here, or null. Its library needs libstdc++, which a machine with only a JDK
     * lacks.
     */
    private static @Nullable String unavailable() {
        try {
            OrtEnvironment.getEnvironment();
            return null;
        } catch (LinkageError | RuntimeException e) {
            return e.toString();
        }
    }

    @BeforeEach
    void open() {
        Require.backend("onnxruntime", unavailable());
        environment = OrtEnvironment.getEnvironment();
        backend = Backends.open("host");
    }

    @AfterEach
    void close() {
        if (backend != null) {
            assertThat(backend.counters().buffers()).isZero();
            backend.close();
        }
    }

    private static byte[] model(String name) throws IOException {
        try (InputStream bytes = OnnxTensorsTest.class.getResourceAsStream(name + ".onnx")) {
            return bytes.readAllBytes();
        }
    }

    private static ByteBuffer bytes(float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.nativeOrder());
        bytes.asFloatBuffer().put(values);
        return bytes;
    }

    /** The arrays of the model, behind one odd byte so that none is aligned in the file. */
    private Path weights() throws IOException {
        String header = "{\"odd\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
                + "\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[1,25]},"
                + "\"w\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[25,73]},"
                + "\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[73,89]}}";
        ByteBuffer file = ByteBuffer.allocate(8 + header.length() + 89).order(ByteOrder.LITTLE_ENDIAN);
        file.putLong(header.length())
                .put(header.getBytes(StandardCharsets.UTF_8))
                .put((byte) 1);
        file.put(bytes(X)).put(bytes(W)).put(bytes(B));
        return Files.write(folder.resolve("model.safetensors"), file.array());
    }

    private LoadedArrays load() throws IOException {
        return Loader.of(backend).load(weights()).block();
    }

    private OnnxTensor tensor(LoadedArrays arrays, String name) throws OrtException {
        return OnnxTensors.of(environment, arrays.get(name));
    }

    private static float[] floats(OrtSession.Result result) {
        FloatBuffer values = ((OnnxTensor) result.get(0)).getFloatBuffer();
        float[] floats = new float[values.remaining()];
        values.get(floats);
        return floats;
    }

    @Test
    void arraysOfAFileAreInputsOfAModel() throws Exception {
        try (LoadedArrays arrays = load();
                OrtSession session = environment.createSession(model("linear"));
                OnnxTensor x = tensor(arrays, "x");
                OnnxTensor w = tensor(arrays, "w");
                OnnxTensor b = tensor(arrays, "b");
                OrtSession.Result result = session.run(Map.of("x", x, "w", w, "b", b))) {
            assertThat(floats(result)).containsExactly(Y);
        }
    }

    @Test
    void arraysOfAFileAreTheWeightsOfAModel() throws Exception {
        try (LoadedArrays arrays = load();
                OnnxTensor w = tensor(arrays, "w");
                OnnxTensor b = tensor(arrays, "b");
                OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            options.addInitializer("w", w);
            options.addInitializer("b", b);
            try (OrtSession session = environment.createSession(model("weighted"), options);
                    OnnxTensor x = tensor(arrays, "x");
                    OrtSession.Result result = session.run(Map.of("x", x))) {
                assertThat(floats(result)).containsExactly(Y);
            }
        }
    }

    @Test
    void aModelWritesItsOutputToABufferThatIsWrittenToAFile() throws Exception {
        Path file = folder.resolve("y");
        try (LoadedArrays arrays = load();
                DeviceBuffer output =
                        backend.allocate((long) Y.length * Float.BYTES).block();
                OrtSession session = environment.createSession(model("linear"));
                OnnxTensor x = tensor(arrays, "x");
                OnnxTensor w = tensor(arrays, "w");
                OnnxTensor b = tensor(arrays, "b");
                OnnxTensor y = OnnxTensors.of(environment, output.all(), OnnxJavaType.FLOAT, 2, 4)) {
            session.run(Map.of("x", x, "w", w, "b", b), Map.of("y", y)).close();
            backend.withFile(
                            file,
                            new FileOption[] {FileOption.WRITE, FileOption.CREATE},
                            to -> backend.submit(Transfer.write(output.all(), to.region(0, output.length()))))
                    .block();
        }
        assertThat(Files.readAllBytes(file)).isEqualTo(bytes(Y).array());
    }

    @Test
    void aTensorIsTheMemoryItselfAndNotACopy() throws Exception {
        try (DeviceBuffer buffer = backend.allocate(16).block();
                OnnxTensor tensor = OnnxTensors.of(environment, buffer.all(), OnnxJavaType.FLOAT, 4)) {
            buffer.upload(0, bytes(1, 2, 3, 4)).block();
            assertThat(tensor.getFloatBuffer().get(3)).isEqualTo(4);
            buffer.upload(12, bytes(42)).block();
            assertThat(tensor.getFloatBuffer().get(3)).isEqualTo(42);
        }
    }

    @Test
    void closingATensorLeavesTheBufferAndClosingTheBufferFirstIsNoError() throws Exception {
        DeviceBuffer buffer = backend.allocate(16).block();
        OnnxTensor first = OnnxTensors.of(environment, buffer.all(), OnnxJavaType.FLOAT, 4);
        first.close();
        buffer.upload(0, bytes(1, 2, 3, 4)).block();
        OnnxTensor second = OnnxTensors.of(environment, buffer.all(), OnnxJavaType.FLOAT, 4);
        assertThat(second.getFloatBuffer().get(3)).isEqualTo(4);
        buffer.close();
        assertThat(backend.counters().buffers())
                .as("a tensor keeps no buffer open")
                .isZero();
        second.close();
        assertThatExceptionOfType(ClosedException.class)
                .isThrownBy(() -> OnnxTensors.of(environment, buffer.all(), OnnxJavaType.FLOAT, 4));
        try (DeviceBuffer next = backend.allocate(16).block()) {
            next.upload(0, bytes(5, 6, 7, 8)).block();
            assertThat(next.hostView().orElseThrow().buffer(0, 16).getFloat(0)).isEqualTo(5);
        }
    }

    @Tag("slow")
    @Test
    void memoryThatIsLargerThanAByteBufferIsATensorToo() throws Exception {
        long bytes = Integer.MAX_VALUE + 5L;
        ByteBuffer last = ByteBuffer.allocate(2).put((byte) 17).put((byte) 99).flip();
        ByteBuffer indices = ByteBuffer.allocateDirect(16).order(ByteOrder.nativeOrder());
        indices.putLong(bytes - 2).putLong(bytes - 1).flip();
        try (DeviceBuffer buffer = backend.allocate(bytes + 1).block();
                OrtSession session = environment.createSession(model("gather"));
                OnnxTensor x = OnnxTensors.of(environment, buffer.region(1, bytes), OnnxJavaType.UINT8, bytes);
                OnnxTensor i = OnnxTensor.createTensor(environment, indices, new long[] {2}, OnnxJavaType.INT64)) {
            buffer.upload(bytes - 1, last).block();
            try (OrtSession.Result result = session.run(Map.of("x", x, "i", i))) {
                assertThat(((OnnxTensor) result.get(0)).getByteBuffer()).isEqualTo(last);
            }
            assertThat(x.getInfo().getShape()).containsExactly(bytes);
        }
    }

    @Test
    void scalarsAndEmptyArraysAreTensors() throws Exception {
        try (DeviceBuffer buffer = backend.allocate(8).block()) {
            buffer.upload(0, bytes(3)).block();
            try (OnnxTensor scalar = OnnxTensors.of(environment, buffer.region(0, 4), OnnxJavaType.FLOAT);
                    OnnxTensor empty = OnnxTensors.of(environment, buffer.region(8, 0), OnnxJavaType.FLOAT, 0, 7);
                    OnnxTensor huge =
                            OnnxTensors.of(environment, buffer.region(8, 0), OnnxJavaType.FLOAT, 1L << 62, 0)) {
                assertThat(scalar.getValue()).isEqualTo(3f);
                assertThat(empty.getInfo().getNumElements()).isZero();
                assertThat(huge.getInfo().getShape()).containsExactly(1L << 62, 0);
            }
        }
    }

    @Test
    void everyTypeThatBothHaveIsTranslated() throws Exception {
        try (DeviceBuffer buffer = backend.allocate(8).block()) {
            Map<ElementType, OnnxJavaType> types = Map.of(
                    ElementType.BOOL, OnnxJavaType.BOOL,
                    ElementType.I8, OnnxJavaType.INT8,
                    ElementType.U8, OnnxJavaType.UINT8,
                    ElementType.I16, OnnxJavaType.INT16,
                    ElementType.I32, OnnxJavaType.INT32,
                    ElementType.I64, OnnxJavaType.INT64,
                    ElementType.F16, OnnxJavaType.FLOAT16,
                    ElementType.BF16, OnnxJavaType.BFLOAT16,
                    ElementType.F32, OnnxJavaType.FLOAT,
                    ElementType.F64, OnnxJavaType.DOUBLE);
            for (ElementType type : types.keySet()) {
                DeviceArray array = array(type, buffer.all(), 8L / type.blockBytes());
                try (OnnxTensor tensor = OnnxTensors.of(environment, array)) {
                    assertThat(tensor.getInfo().type).isEqualTo(types.get(type));
                    assertThat(tensor.getInfo().getShape()).containsExactly(8L / type.blockBytes());
                }
            }
        }
    }

    /** Of what the Java API does not create, ONNX Runtime names the type when it does not suit a model. */
    @Test
    void everyTypeIsTranslatedForTheNativeApiToo() throws Exception {
        try (OrtSession session = environment.createSession(model("linear"))) {
            for (String type :
                    List.of("UINT8", "INT8", "INT16", "INT32", "INT64", "BOOL", "FLOAT16", "DOUBLE", "BFLOAT16")) {
                OnnxJavaType java = OnnxJavaType.valueOf(type);
                try (OnnxTensor x = OrtInternals.find().tensor("Cpu", 0, 0x1000, 6L * java.size, java, 2, 3)) {
                    assertThatExceptionOfType(OrtException.class)
                            .isThrownBy(() -> session.run(Map.of("x", x, "w", x, "b", x)))
                            .withMessageContaining("Actual: (tensor(" + type.toLowerCase(Locale.ROOT) + "))");
                }
            }
        }
    }

    private static DeviceArray array(ElementType type, BufferRegion region, Long... shape) {
        return DeviceArray.of("a", type, List.of(shape), region);
    }

    @Test
    void whatIsNoTensorIsRefusedWithWhatMustBeAndWhatWas() {
        try (DeviceBuffer buffer = backend.allocate(64).block()) {
            BufferRegion region = buffer.region(0, 16);
            refused(array(ElementType.U16, region, 8L))
                    .withMessageStartingWith("type must be one of [BF16, BOOL, F16,")
                    .withMessageEndingWith(", was a U16 [8]");
            refused(new DeviceArray(
                            "a", ElementType.F32, List.of(4L), ByteOrder.BIG_ENDIAN, Array.Order.ROW_MAJOR, region))
                    .withMessage("byte order must be LITTLE_ENDIAN, was BIG_ENDIAN in a F32 [4]");
            refused(new DeviceArray(
                            "a",
                            ElementType.F32,
                            List.of(2L, 2L),
                            ByteOrder.LITTLE_ENDIAN,
                            Array.Order.COLUMN_MAJOR,
                            region))
                    .withMessage("order must be ROW_MAJOR, was COLUMN_MAJOR in a F32 [2, 2]");
            refused(OnnxJavaType.FLOAT, region, 5).withMessage("region must have 20 bytes for FLOAT [5], had 16");
            refused(OnnxJavaType.FLOAT, region, -2, -2).withMessage("dimensions must be at least 0, were [-2, -2]");
            refused(OnnxJavaType.STRING, region, 4).withMessage("type must be of a fixed size, was STRING");
            refused(OnnxJavaType.FLOAT, buffer.region(2, 16), 4)
                    .withMessageStartingWith("address must be a multiple of 4 for FLOAT, was 0x");
        }
    }

    private ThrowableAssertAlternative<?> refused(DeviceArray array) {
        return assertThatIllegalArgumentException().isThrownBy(() -> OnnxTensors.of(environment, array));
    }

    private ThrowableAssertAlternative<?> refused(OnnxJavaType type, BufferRegion region, long... shape) {
        return assertThatIllegalArgumentException().isThrownBy(() -> OnnxTensors.of(environment, region, type, shape));
    }

    @Test
    void withoutTheProviderForCudaATensorOverItsMemoryIsRefused() {
        Require.backend(
                "onnxruntime",
                OrtEnvironment.getAvailableProviders().contains(OrtProvider.CUDA) ? "this build has CUDA" : null);
        try (DeviceBuffer buffer = backend.allocate(16).block()) {
            DeviceArray array = array(ElementType.F32, buffer.all(), 4L);
            assertThatIllegalStateException()
                    .isThrownBy(() -> OnnxTensors.ofCuda(environment, 0, array))
                    .withMessageStartingWith(
                            "ONNX Runtime must have the provider CUDA (the artifact onnxruntime_gpu), has [CPU")
                    .withMessageEndingWith(" in version " + environment.getVersion());
        }
    }

    /** The address is never used: a session of the CPU build would take it for one of the host's. */
    @Test
    void memoryOfAGpuIsDescribedAsSuch() throws Exception {
        try (OnnxTensor tensor = OrtInternals.find().tensor("Cuda", 3, 0x1000, 24, OnnxJavaType.FLOAT, 2, 3)) {
            assertThat(tensor.getInfo().getShape()).containsExactly(2, 3);
            PointerByReference description = new PointerByReference();
            PointerByReference name = new PointerByReference();
            IntByReference device = new IntByReference();
            int getTensorMemoryInfo = 194;
            int memoryInfoGetName = 71;
            int memoryInfoGetId = 72;
            call(getTensorMemoryInfo, new Pointer(field(OnnxTensorLike.class, "nativeHandle", tensor)), description);
            call(memoryInfoGetName, description.getValue(), name);
            call(memoryInfoGetId, description.getValue(), device);
            assertThat(name.getValue().getString(0)).isEqualTo("Cuda");
            assertThat(device.getValue()).isEqualTo(3);
        }
    }

    private static long field(Class<?> type, String name, @Nullable Object object) throws ReflectiveOperationException {
        Field field = type.getDeclaredField(name);
        field.setAccessible(true);
        return field.getLong(object);
    }

    /** Calls a function of {@code OrtApi} by its position. */
    private static void call(int position, Object... arguments) throws ReflectiveOperationException {
        Pointer table = new Pointer(field(Class.forName("ai.onnxruntime.OnnxRuntime"), "ortApiHandle", null));
        Function function = Function.getFunction(table.getPointer((long) position * Native.POINTER_SIZE));
        assertThat(function.invokePointer(arguments)).as("status").isNull();
    }

    @Test
    void errorsOfTheNativeApiArriveWithCodeAndMessage() {
        assertThatExceptionOfType(OrtException.class)
                .isThrownBy(() -> OrtInternals.find().tensor("Abacus", 0, 0x1000, 4, OnnxJavaType.FLOAT, 1))
                .withMessageContaining("ORT_INVALID_ARGUMENT")
                .withMessageContaining("device is not supported");
        assertThatExceptionOfType(OrtException.class)
                .isThrownBy(() -> OrtInternals.find().tensor("Cpu", 0, 0x1000, 4, OnnxJavaType.FLOAT, 2))
                .withMessageContaining("ORT_INVALID_ARGUMENT")
                .withMessageContaining("expected 8, got 4");
    }

    /** As {@code OnnxRuntime} with an address of another type. */
    @SuppressWarnings("unused") // found by name
    private static final class OtherRuntime {
        static String ortApiHandle = "";
    }

    /** As {@code OnnxRuntime}. */
    @SuppressWarnings("unused") // found by name
    private static final class SameRuntime {
        static long ortApiHandle;
    }

    /** As {@code TensorInfo} with another constructor. */
    private record OtherInfo(int dimensions) {}

    @Test
    void aVersionWithOtherClassesIsRefusedWithWhatWasFound() {
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> OrtInternals.in(OtherRuntime.class, OnnxTensor.class, OtherInfo.class))
                .withMessageStartingWith("ONNX Runtime 1.")
                .withMessageContaining(" must have a field static long ortApiHandle of " + OtherRuntime.class.getName())
                .withMessageContaining("had [static java.lang.String ");
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> OrtInternals.in(SameRuntime.class, OnnxTensor.class, OtherInfo.class))
                .withMessageContaining(" must have a constructor of ai.onnxruntime.OnnxTensor with [long, long, ")
                .withMessageContaining(Arrays.toString(OnnxTensor.class.getDeclaredConstructors()));
    }
}
