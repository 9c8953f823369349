// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.lwjgl.opencl.CL10.CL_CONTEXT_PLATFORM;
import static org.lwjgl.opencl.CL10.CL_DEVICE_TYPE_ALL;
import static org.lwjgl.opencl.CL10.clCreateCommandQueue;
import static org.lwjgl.opencl.CL10.clCreateContext;
import static org.lwjgl.opencl.CL10.clGetDeviceIDs;
import static org.lwjgl.opencl.CL10.clGetPlatformIDs;
import static org.lwjgl.opencl.CL10.clReleaseCommandQueue;
import static org.lwjgl.opencl.CL10.clReleaseContext;
import static org.lwjgl.opencl.CL12.clEnqueueFillBuffer;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.backend.dx11.device.Adapter;
import io.penstock.backend.dx11.device.DeviceChoice;
import io.penstock.backend.dx11.ffi.Com;
import io.penstock.backend.dx11.ffi.D3d11;
import io.penstock.backend.gl.GlPump;
import io.penstock.backend.gl.HeadlessContext;
import io.penstock.backend.opencl.OpenClOptions;
import io.penstock.formats.LoadedArrays;
import io.penstock.tck.Require;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.IntBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.lwjgl.PointerBuffer;
import org.lwjgl.cuda.CU;
import org.lwjgl.system.Configuration;
import org.lwjgl.system.Library;
import org.lwjgl.system.MemoryStack;

/**
 * The programs that name a vendor's type, on its own driver. Tests of the backends run InCudaStream and OnPciBus on
 * fakes.
 */
class VendorProgramsTest {

    private static final int BYTES = 20_000_003;

    static {
        // Else it takes libOpenCL.so and libcuda.so, links of development packages, and not what the backends load.
        Configuration.OPENCL_LIBRARY_NAME.set("libOpenCL.so.1");
        Configuration.CUDA_LIBRARY_NAME.set("libcuda.so.1");
    }

    @TempDir
    Path folder;

    private final byte[] data = new byte[BYTES];
    private Path file;

    @BeforeEach
    void write() throws IOException {
        new Random(2).nextBytes(data);
        file = Files.write(folder.resolve("file"), data);
    }

    static void require(String backend, String requirement) {
        Backends.list().stream()
                .filter(listing -> listing.name().equals(backend))
                .forEach(listing -> Require.backend(requirement, listing.availability()));
    }

    /** The build has LWJGL's native part for Linux on x86-64. */
    private static void requireLwjgl() {
        String unavailable = null;
        try {
            Library.initialize();
        } catch (LinkageError e) {
            unavailable = e.toString();
        }
        Require.backend("lwjgl", unavailable);
    }

    private static void ok(int result) {
        assertThat(result).isZero();
    }

    @Test
    void inCudaStream() {
        require("cufile", "gpu");
        requireLwjgl();
        try (Backend backend = Backends.open("cufile");
                MemoryStack stack = MemoryStack.stackPush()) {
            PointerBuffer cell = stack.mallocPointer(1);
            ok(CU.cuDevicePrimaryCtxRetain(cell, 0));
            long context = cell.get(0);
            ok(CU.cuCtxSetCurrent(context));
            ok(CU.cuStreamCreate(cell, CU.CU_STREAM_NON_BLOCKING));
            long stream = cell.get(0);
            ok(CU.cuMemAlloc(cell, BYTES));
            long copy = cell.get(0);
            long[] done = new long[1];
            InCudaStream.run(backend, file, stream, (custream, address, bytes) -> {
                        ok(CU.cuCtxSetCurrent(context));
                        ok(CU.cuMemcpyDtoDAsync(copy + done[0], address, bytes, custream));
                        done[0] += bytes;
                    })
                    .block();
            ByteBuffer target = ByteBuffer.allocateDirect(BYTES);
            ok(CU.cuMemcpyDtoH(target, copy));
            assertThat(target).isEqualTo(ByteBuffer.wrap(data));
            ok(CU.cuMemFree(copy));
            ok(CU.cuStreamDestroy(stream));
        }
    }

    private static Process start(Class<?> program, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
    }

    /** Two processes with one GPU. */
    @Test
    void loadByProcesses() throws IOException, InterruptedException {
        require("cufile", "gpu");
        String header = String.format(
                "\u0093NUMPY\1\0v\0%-117s\n", "{'descr': '|u1', 'fortran_order': False, 'shape': (" + BYTES + ",), }");
        Path model = folder.resolve("model.npy");
        Files.write(model, header.getBytes(StandardCharsets.ISO_8859_1));
        Files.write(model, data, StandardOpenOption.APPEND);
        Path socket = folder.resolve("meeting");
        Process other = start(LoadByProcesses.class, model.toString(), socket.toString(), "2", "0");
        try (Backend gpu = Backends.open("cufile");
                LoadedArrays loaded =
                        LoadByProcesses.load(gpu, model, socket, 2).block();
                BufferedReader printed = other.inputReader()) {
            BufferRegion array = loaded.arrays().get(0).region();
            ByteBuffer copy = ByteBuffer.allocate(BYTES);
            array.buffer().download(array.offset(), copy).block();
            assertThat(copy.array()).isEqualTo(data);
            assertThat(printed.readLine()).isEqualTo("1 arrays on GPU 0");
            assertThat(other.waitFor()).isZero();
        } finally {
            other.destroy();
        }
    }

    /** The exporter is a process of its own. */
    @Test
    void shareMemory() throws IOException, InterruptedException {
        require("cufile", "gpu");
        Process exporter = start(ShareMemory.class, file.toString());
        try (Backend backend = Backends.open("cufile");
                BufferedReader printed = exporter.inputReader()) {
            URI uri = URI.create(printed.readLine());
            assertThat(ShareMemory.use(backend, uri).block()).isEqualTo(Arrays.copyOf(data, 16));
            exporter.getOutputStream().close();
            assertThat(exporter.waitFor()).isZero();
        } finally {
            exporter.destroy();
        }
    }

    @Test
    void inOpenClQueue() throws IOException {
        require("opencl-ssg", "opencl");
        requireLwjgl();
        Path target = folder.resolve("rewritten");
        assertThat(rewritten(target, backend -> backend)).isEqualTo(BYTES);
        Arrays.fill(data, 1000, BYTES - 1, (byte) 7);
        assertThat(Arrays.equals(Files.readAllBytes(target), data)).isTrue();
    }

    @Test
    void aFileThatBecomesShorterIsNotRewrittenInOpenClQueue() {
        require("opencl-ssg", "opencl");
        requireLwjgl();
        Path target = folder.resolve("rewritten");
        ShorterFileTest.assertShorter(() -> rewritten(target, backend -> ShorterFileTest.shortening(backend, file)));
    }

    private Long rewritten(Path target, UnaryOperator<Backend> seen) {
        try (MemoryStack stack = MemoryStack.stackPush()) {
            PointerBuffer platform = stack.mallocPointer(1);
            ok(clGetPlatformIDs(platform, (IntBuffer) null));
            PointerBuffer device = stack.mallocPointer(1);
            ok(clGetDeviceIDs(platform.get(0), CL_DEVICE_TYPE_ALL, device, (IntBuffer) null));
            PointerBuffer properties = stack.pointers(CL_CONTEXT_PLATFORM, platform.get(0), 0);
            long context = clCreateContext(properties, device.get(0), null, 0, null);
            long queue = clCreateCommandQueue(context, device.get(0), 0, (IntBuffer) null);
            Options options = Options.none().with(OpenClOptions.CONTEXT, "0x" + Long.toHexString(context));
            ByteBuffer seven = stack.bytes((byte) 7);
            InOpenClQueue.Kernel kernel = (clQueue, clMem, bytes) ->
                    ok(clEnqueueFillBuffer(clQueue, clMem, seven, 1000, bytes - 1001, null, null));
            try (Backend backend = Backends.open("opencl-ssg", options)) {
                return InOpenClQueue.rewrite(seen.apply(backend), file, target, queue, kernel)
                        .block();
            } finally {
                ok(clReleaseCommandQueue(queue));
                ok(clReleaseContext(context));
            }
        }
    }

    @Test
    void inRenderLoop() {
        require("gl", "gl");
        ByteBuffer seen = ByteBuffer.allocate(BYTES);
        try (HeadlessContext context = HeadlessContext.open(Options.none());
                GlPump pump = GlPump.open(Options.none())) {
            long[] frames = new long[1];
            long drawn = InRenderLoop.render(pump, file, name -> {
                frames[0]++;
                if (name != 0) {
                    try (DeviceBuffer buffer = pump.backend().wrap(name, BYTES)) {
                        pump.runUntil(buffer.download(0, seen));
                    }
                }
            });
            assertThat(context.context()).isNotZero();
            assertThat(drawn).isEqualTo(frames[0]).isGreaterThan(1);
        }
        assertThat(seen.clear()).isEqualTo(ByteBuffer.wrap(data));
    }

    @Test
    void aRenderLoopThatFailsLeavesNoBuffer() {
        require("gl", "gl");
        try (HeadlessContext context = HeadlessContext.open(Options.none());
                GlPump pump = GlPump.open(Options.none())) {
            assertThat(context.context()).isNotZero();
            assertThatThrownBy(() -> InRenderLoop.render(pump, file, name -> {
                        throw new IllegalStateException("cannot draw");
                    }))
                    .hasMessage("cannot draw");
            Instant end = Instant.now().plusSeconds(20);
            while (pump.backend().counters().buffers() > 0 && Instant.now().isBefore(end)) {
                pump.run(Duration.ofMillis(2));
            }
            assertThat(pump.backend().counters().buffers()).isZero();
        }
    }

    /** Runs on Windows, and by {@code backend-dx11/wine/run test samples/programs:VendorProgramsTest}. */
    @Test
    void onDirect3dDevice() {
        require("dx11", "dx11");
        long[] cell = new long[1];
        DeviceChoice choice = DeviceChoice.of(Options.none().resolve(Backends.options()));
        ok(choice.among(Adapter.all()).createDevice(cell));
        long device = cell[0];
        ok(D3d11.CreateBuffer(device, new int[] {BYTES + 5, D3d11.USAGE_DEFAULT, 1, 0, 0, 0}, 0, cell));
        ByteBuffer seen = ByteBuffer.allocate(BYTES);
        try (Backend backend = OnDirect3dDevice.open(device)) {
            assertThat(OnDirect3dDevice.fill(backend, cell[0], BYTES + 5, file).block())
                    .isEqualTo(BYTES);
            try (DeviceBuffer buffer = backend.wrap(cell[0], BYTES + 5)) {
                buffer.download(0, seen).block();
            }
        }
        assertThat(seen.clear()).isEqualTo(ByteBuffer.wrap(data));
        assertThat(Com.Release(cell[0])).isZero();
        assertThat(Com.Release(device)).isZero();
    }
}
