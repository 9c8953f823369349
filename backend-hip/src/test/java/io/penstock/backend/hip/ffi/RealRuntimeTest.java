// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import io.penstock.Backend;
import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.hip.fakes.HipDouble;
import io.penstock.engine.Engine;
import io.penstock.engine.testing.ClassPath;
import io.penstock.engine.testing.CompiledFakes;
import io.penstock.tck.Require;
import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.jctools.queues.MessagePassingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

/** The table against the runtime that AMD made: Debian's {@code libamdhip64-5}, which needs no GPU to be loaded. */
class RealRuntimeTest {

    @TempDir
    Path folder;

    /** What {@code PENSTOCK_REQUIRE} calls the library. */
    private static final String NAME = "amdhip64";

    private static final Path REAL = Path.of("/usr/lib/x86_64-linux-gnu/libamdhip64.so.5");

    /** Newer than this version, and so optional, or refused by name. */
    private static final List<String> NEWER =
            List.of("hipAmdFileRead", "hipGetProcAddress", "hipMemGetHandleForAddressRange", "hipStreamGetDevice");

    private static void require() {
        Require.backend(NAME, Files.exists(REAL) ? null : "no " + REAL + ": install libamdhip64-5");
    }

    @Test
    void everyEntryHasASymbolOfTheRealRuntime() {
        require();
        NativeLibrary real = NativeLibrary.getInstance(REAL.toString());
        TreeSet<String> missing = new TreeSet<>();
        int found = 0;
        for (Method method : Hip.class.getDeclaredMethods()) {
            if (Modifier.isNative(method.getModifiers())) {
                String symbol = Hip.DRIVER.call(method.getName());
                try {
                    real.getFunction(symbol);
                    found++;
                } catch (UnsatisfiedLinkError e) {
                    missing.add(symbol);
                }
            }
        }
        assertThat(missing).containsExactlyElementsOf(NEWER);
        assertThat(found).isGreaterThan(35);
        assertThat(real.getFunction(Hip.DRIVER.call("ipcOpenMemHandle"))).isNotNull();
    }

    @Test
    void theRealRuntimeAnswersThatThereIsNoDeviceAndItsAnswersHaveTheirNames() throws IOException {
        require();
        assertThat(said(REAL, "HIP").lines())
                .contains(
                        "available: false",
                        "reason: no device: hipInit -> hipErrorInvalidDevice (101)",
                        "absent: []",
                        "version: HIP 5.2.21153",
                        "count: hipGetDeviceCount -> hipErrorNoDevice (100)",
                        "alloc: hipMalloc -> hipErrorInvalidDevice (101)")
                .anyMatch(line -> line.startsWith("remedy: check rocminfo") && line.contains("/dev/kfd"))
                .allMatch(line -> !line.contains("-> 5"));
    }

    @Test
    void overTheCudaDriverTheTableHasItsNamesAndFindsItsDevice() throws IOException {
        assertThat(said(HipDouble.libcuda(), "CUDA").lines())
                .contains(
                        "available: true", "absent: []", "version: CUDA 13.0", "count: cuDeviceGetCount -> hipSuccess")
                .anyMatch(line -> line.startsWith("file: ") && line.endsWith("libcuda.so.1"));
    }

    @Test
    void overTheCudaDriverBytesGoThereAndBackByEachKindOfCalls() throws IOException {
        List<String> arguments = List.of(
                HipDouble.libcuda().toString(),
                HipDouble.libhipfile().toString(),
                folder.toString(),
                "sync",
                "stream",
                "staged");
        assertThat(said("io.penstock.backend.hip.OverCuda", arguments).lines())
                .contains(
                        "SYNC: wrote 16777216 by COMPAT, read 16777216 by COMPAT, equal",
                        "STREAM: wrote 16777216 by COMPAT, read 16777216 by COMPAT, equal")
                .anyMatch(line -> line.startsWith("STAGED: wrote 16777216 by STAGED, read 16777216 by STAGED, equal"));
        assertThat(folder.resolve("classes"))
                .as("classes are loaded from lists, beside the start of the runtime; HIP itself maps nothing")
                .content()
                .contains("io.penstock.backend.gpu.mapped.MappedPath ");
    }

    private String said(Path runtime, String kind) throws IOException {
        return said(RealRuntime.class.getName(), List.of(runtime.toString(), kind));
    }

    private String said(String program, List<String> arguments) throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String path = ClassPath.of(
                RealRuntime.class,
                Hip.class,
                DriverApi.class,
                Engine.class,
                Backend.class,
                Native.class,
                MessagePassingQueue.class,
                org.jctools.queues.varhandle.MpscVarHandleArrayQueue.class,
                Flux.class,
                Publisher.class,
                LoggerFactory.class);
        List<String> command = new ArrayList<>(
                List.of(java, "-Xlog:class+load:file=" + folder.resolve("classes"), "-cp", path, program));
        command.addAll(arguments);
        return CompiledFakes.run(command);
    }
}
