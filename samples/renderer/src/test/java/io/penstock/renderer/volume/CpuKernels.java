// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** Runs the kernels on the processor: compose.cu, compiled as C. */
final class CpuKernels implements Kernels {

    private static final int MOST_PARAMETERS = 11;

    private final NativeLibrary library;
    private final Function runner;
    private final Map<Long, Memory> memory = new HashMap<>();

    private CpuKernels(NativeLibrary library) {
        this.library = library;
        this.runner = library.getFunction("run_kernel");
    }

    /** Compiles the kernels, or skips the test where there is no compiler. */
    static CpuKernels compile(Path folder) throws IOException, InterruptedException {
        Path source = folder.resolve("compose.c");
        try (InputStream from = Objects.requireNonNull(Kernels.class.getResourceAsStream("compose.cu"))) {
            Files.write(source, from.readAllBytes());
        }
        Path library = folder.resolve("libcompose.so");
        Process cc = start(List.of(
                "cc",
                "-std=gnu11",
                "-O2",
                "-ffp-contract=off",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fPIC",
                "-shared",
                "-DON_CPU",
                "-o",
                library.toString(),
                source.toString(),
                "src/test/c/run-kernel.c",
                "-lm"));
        String said = new String(cc.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (cc.waitFor() != 0) {
            throw new IOException("cc: " + said);
        }
        return new CpuKernels(NativeLibrary.getInstance(library.toString()));
    }

    private static Process start(List<String> command) {
        try {
            return new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (IOException e) {
            Require.backend("fakes", "no C compiler: " + e.getMessage());
            throw new AssertionError(e);
        }
    }

    /** Returns how many blocks of memory are not freed. */
    int leaks() {
        return memory.size();
    }

    @Override
    public long allocate(long bytes) {
        Memory segment = new Memory(bytes);
        segment.setMemory(0, bytes, (byte) 0xa5);
        long address = Pointer.nativeValue(segment);
        memory.put(address, segment);
        return address;
    }

    @Override
    public void free(long address) {
        if (memory.remove(address) == null) {
            throw new IllegalArgumentException("freed twice, or never allocated: " + address);
        }
    }

    @Override
    public void put(ByteBuffer from, long address) {
        new Pointer(address).getByteBuffer(0, from.remaining()).put(from);
    }

    @Override
    public void get(long address, ByteBuffer to) {
        to.put(new Pointer(address).getByteBuffer(0, to.remaining()));
    }

    @Override
    public void run(String kernel, long indices, long... arguments) {
        int declared = library.getGlobalVariableAddress(kernel + "_parameters").getInt(0);
        if (declared != arguments.length) {
            throw new IllegalArgumentException(kernel + " has " + declared + " parameters, not " + arguments.length);
        }
        runner.invoke(new Object[] {library.getFunction(kernel), indices, Arrays.copyOf(arguments, MOST_PARAMETERS)});
    }
}
