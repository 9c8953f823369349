// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtSession;
import com.sun.jna.NativeLibrary;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Transfer;
import io.penstock.formats.DlTensor;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import io.penstock.tck.Require;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.BiConsumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import jcuda.Pointer;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.JCudaDriver;
import org.bytedeco.javacpp.SizeTPointer;
import org.bytedeco.javacpp.presets.javacpp;
import org.bytedeco.opencl.global.OpenCL;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lwjgl.PointerBuffer;
import org.lwjgl.cuda.CU;
import org.lwjgl.system.Configuration;
import org.lwjgl.system.Library;
import org.lwjgl.system.MemoryStack;

/** Other libraries read what Penstock has read from a file, by its address. */
class HandOverTest {

    private static final int BYTES = 300_000;
    private static final int FROM = 4100; // where in the buffer the region starts
    private static final int LENGTH = 100_003;

    static {
        // Else it takes libOpenCL.so and libcuda.so, links of development packages, and not what the backends load.
        Configuration.OPENCL_LIBRARY_NAME.set("libOpenCL.so.1");
        Configuration.CUDA_LIBRARY_NAME.set("libcuda.so.1");
    }

    @TempDir
    Path folder;

    /** Reads a file into a buffer of that backend, and compares what a library copies out of a region with the file. */
    private void copies(String backend, String requirement, BiConsumer<BufferRegion, ByteBuffer> copy)
            throws IOException {
        Require.backend(
                requirement,
                Backends.list().stream()
                        .filter(listing -> listing.name().equals(backend))
                        .map(Backends.Listing::availability)
                        .findFirst()
                        .orElseThrow());
        byte[] data = new byte[BYTES];
        new Random(3).nextBytes(data);
        Path file = Files.write(folder.resolve("file"), data);
        ByteBuffer target = ByteBuffer.allocateDirect(LENGTH);
        try (Backend opened = Backends.open(backend);
                DeviceBuffer buffer = opened.allocate(BYTES).block()) {
            opened.withFile(file, FileOption.READ, from -> opened.submit(Transfer.read(from.all(), buffer.all())))
                    .block();
            copy.accept(buffer.region(FROM, LENGTH), target);
        }
        assertThat(target.rewind())
                .isEqualTo(ByteBuffer.wrap(data, FROM, LENGTH).slice());
    }

    /** Skips the test where the library has no native part: the build has the native part for Linux on x86-64. */
    private static void require(String library, Runnable load) {
        String unavailable = null;
        try {
            load.run();
        } catch (LinkageError e) {
            unavailable = e.toString();
        }
        Require.backend(library, unavailable);
    }

    @Test
    void lwjglCopiesFromOpenCl() throws IOException {
        require("lwjgl", Library::initialize);
        copies("opencl-ssg", "opencl", LwjglMemory::fromOpenCl);
    }

    @Test
    void bytedecoKnowsTheClMem() throws IOException {
        require("bytedeco", () -> org.bytedeco.javacpp.Loader.load(OpenCL.class));
        copies("opencl-ssg", "opencl", (region, target) -> {
            try (BytedecoMemory.ClMemory memory = new BytedecoMemory.ClMemory(region);
                    SizeTPointer size = new SizeTPointer(1)) {
                assertThat(OpenCL.clGetMemObjectInfo(memory, OpenCL.CL_MEM_SIZE, Long.BYTES, size, null))
                        .isEqualTo(OpenCL.CL_SUCCESS);
                assertThat(size.get()).isGreaterThanOrEqualTo(BYTES);
            }
            LwjglMemory.fromOpenCl(region, target);
        });
    }

    @Test
    void bytedecoReadsMemoryOfTheHost() throws IOException {
        require("bytedeco", () -> org.bytedeco.javacpp.Loader.load(javacpp.class));
        copies("host", "host", (region, target) -> {
            try (BytedecoMemory.RegionPointer pointer = new BytedecoMemory.RegionPointer(region)) {
                byte[] bytes = new byte[LENGTH];
                pointer.get(bytes);
                target.put(bytes);
            }
        });
    }

    @Test
    void lwjglCopiesFromCuda() throws IOException {
        require("lwjgl", Library::initialize);
        copies("cufile", "gpu", (region, target) -> {
            inPrimaryContext();
            LwjglMemory.fromCuda(region, target);
        });
    }

    @Test
    void jcudaCopiesFromCuda() throws IOException {
        require("jcuda", () -> JCudaDriver.setExceptionsEnabled(true));
        copies("cufile", "gpu", (region, target) -> {
            CUcontext context = new CUcontext();
            JCudaDriver.cuDevicePrimaryCtxRetain(context, new CUdevice());
            JCudaDriver.cuCtxSetCurrent(context);
            JCudaDriver.cuMemcpyDtoH(Pointer.to(target), JCudaMemory.devicePointer(region), target.remaining());
        });
    }

    /** The model of the adapter's own tests: {@code y = relu(x w + b)}. */
    @Test
    void onnxRuntimeRunsAModelOverArraysOfAFile() throws Exception {
        require("onnxruntime", OrtEnvironment::getEnvironment);
        Path model = Path.of("../../integrations/onnxruntime/src/test/resources/io/penstock/onnxruntime/linear.onnx");
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        try (Backend backend = Backends.open("host");
                LoadedArrays arrays = Loader.of(backend).load(inputs()).block();
                OrtSession session = environment.createSession(Files.readAllBytes(model))) {
            assertThat((float[][]) OnnxModel.run(environment, session, arrays))
                    .isDeepEqualTo(new float[][] {{2, 2, 2, 2}, {5, 5, 5, 5}});
        }
    }

    /** What cuVS demands of vectors, by a library with its functions: rows side by side; it calls no deleter. */
    @Test
    void cuvsBuildsAnIndexOverVectorsOfAFile() throws Exception {
        Path library = folder.resolve("libcuvs_c.so");
        try {
            Process cc = new ProcessBuilder(
                            "cc", "-shared", "-fPIC", "-Wall", "-Werror", "-o", library + "", "src/test/c/cuvs_c.c")
                    .inheritIO()
                    .start();
            assertThat(cc.waitFor()).isZero();
        } catch (IOException e) {
            Require.backend("cc", "no C compiler: " + e.getMessage());
        }
        ByteBuffer vectors = ByteBuffer.allocate(2 * 12).order(ByteOrder.LITTLE_ENDIAN);
        vectors.putInt(2).putFloat(1).putFloat(2).putInt(2).putFloat(3).putFloat(4);
        Path file = Files.write(folder.resolve("base.fvecs"), vectors.array());
        NativeLibrary cuvs = NativeLibrary.getInstance(library.toString());
        com.sun.jna.Pointer resources = new com.sun.jna.Pointer(7);
        try (Backend host = Backends.open("host");
                DlTensor tensor = CuvsVectors.load(host, file, DlTensor.CPU);
                LoadedArrays gaps = Loader.of(host).keepGaps().load(file).block();
                DlTensor strided = new DlTensor(gaps.arrays().get(0), DlTensor.CPU, 0, () -> {})) {
            long lent = CuvsVectors.lend(tensor, host, 0);
            com.sun.jna.Pointer index = CuvsVectors.bruteForce(cuvs, resources, lent);
            assertThat(index.getPointer(0).getFloatArray(0, 4)).containsExactly(1, 2, 3, 4);
            long withGaps = CuvsVectors.lend(strided, host, CuvsVectors.deleter());
            assertThatThrownBy(() -> CuvsVectors.bruteForce(cuvs, resources, withGaps))
                    .hasMessage("cuvsBruteForceBuild: dataset input to cuvsBruteForceBuild must be contiguous");
        }
    }

    private Path inputs() throws IOException {
        String header = "{\"x\":{\"dtype\":\"F32\",\"shape\":[2,3],\"data_offsets\":[0,24]},"
                + "\"w\":{\"dtype\":\"F32\",\"shape\":[3,4],\"data_offsets\":[24,72]},"
                + "\"b\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[72,88]}}";
        ByteBuffer file = ByteBuffer.allocate(8 + header.length() + 88).order(ByteOrder.LITTLE_ENDIAN);
        file.putLong(header.length()).put(header.getBytes(StandardCharsets.UTF_8));
        for (float value : new float[] {1, 1, 1, 2, 2, 2}) {
            file.putFloat(value);
        }
        for (int i = 0; i < 12; i++) {
            file.putFloat(1);
        }
        for (int i = 0; i < 4; i++) {
            file.putFloat(-1);
        }
        return Files.write(folder.resolve("inputs.safetensors"), file.array());
    }

    @Test
    void everyBlockOfThePageIsCompiledOrSaidNotToBe() throws IOException {
        StringBuilder sources = new StringBuilder();
        for (String folder : List.of(
                "src/test/java/io/penstock/handover",
                "../../integrations/cudf/src/test/java/io/penstock/cudf",
                "../../backend-cufile/src/test/java/io/penstock/backend/cufile")) {
            try (Stream<Path> files = Files.list(Path.of(folder))) {
                for (Path file : files.filter(Files::isRegularFile).toList()) {
                    sources.append(Files.readString(file));
                }
            }
        }
        List<String> blocks = Pattern.compile("^```java\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
                .matcher(Files.readString(Path.of("../../docs/hand-over.md")))
                .results()
                .map(block -> block.group(1))
                .toList();
        assertThat(blocks)
                .hasSizeGreaterThanOrEqualTo(6)
                .allSatisfy(block -> assertThat(sources).contains(block));
    }

    /** Makes the context of GPU 0 that the backend uses the one of this thread. */
    private static void inPrimaryContext() {
        try (MemoryStack stack = MemoryStack.stackPush()) {
            PointerBuffer context = stack.mallocPointer(1);
            assertThat(CU.cuDevicePrimaryCtxRetain(context, 0)).isEqualTo(CU.CUDA_SUCCESS);
            assertThat(CU.cuCtxSetCurrent(context.get(0))).isEqualTo(CU.CUDA_SUCCESS);
        }
    }
}
