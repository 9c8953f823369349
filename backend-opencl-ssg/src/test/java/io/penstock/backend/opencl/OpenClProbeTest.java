// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.opencl.paths.OpenClProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The descriptions of a machine's OpenCL, and the reasons why it cannot be used (rule 501). */
class OpenClProbeTest {

    private static final int SIGQUIT = 3;
    private static final int SIGILL = 4;
    private static final int SIGBUS = 7;
    private static final int SIGFPE = 8;
    private static final int SIGSEGV = 11;
    private static final int SIGTERM = 15;

    @BeforeEach
    void find() {
        OpenCls.require();
    }

    private static Availability probe(Options options) {
        return new OpenClProvider().probe(options.resolve(Backends.options()));
    }

    private static void assertAbsent(Options options, String reason, String remedy) {
        Availability absent = probe(options);
        assertThat(absent.available()).as(absent.toString()).isFalse();
        assertThat(absent.reason()).contains(reason);
        assertThat(absent.remedy()).contains(remedy);
        assertThatThrownBy(() -> Backends.open("opencl-ssg", options))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining(reason);
    }

    @Test
    void required_501_platformsAndDevicesAreListedWithWhatTheyCanDo() {
        Availability found = probe(Options.none());
        assertThat(found.available()).as(found.reason()).isTrue();
        assertThat(found.reason()).isNotBlank();
        assertThat(found.details())
                .anyMatch(line -> line.startsWith("library: ") && line.contains("OpenCL"))
                .anyMatch(line -> line.startsWith("platform: "))
                .anyMatch(line -> line.startsWith("device 0: ") && line.contains("staged"))
                .anyMatch(line -> line.startsWith("staging buffers, past the page cache: "))
                .anyMatch(line -> line.endsWith("; chosen"));
    }

    /**
     * PoCL 3.1 and the LLVM in it take the signals that a JVM lives on, and the process ends at one of its next
     * safepoints. Another test of this JVM may have called it first, but never without the same care.
     */
    @Test
    @EnabledOnOs(OS.LINUX)
    void theJvmKeepsItsSignalHandlers() throws IOException {
        probe(Options.none());
        for (int signal : new int[] {SIGQUIT, SIGILL, SIGBUS, SIGFPE, SIGSEGV, SIGTERM}) {
            assertThat(ownerOfHandler(signal)).as("handler of signal " + signal).contains("libjvm.so");
        }
    }

    /**
     * With a handler that is not the JVM's (under Wine: not Wine's), two threads at one safepoint may end the process.
     */
    @Test
    void threadsInLoopsReachASafepointOnceADriverIsLoaded() throws InterruptedException {
        AtomicBoolean end = new AtomicBoolean();
        AtomicLong turns = new AtomicLong();
        List<Thread> loops = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            Thread loop = new Thread(() -> turns.addAndGet(turnsUntil(end)));
            loop.start();
            loops.add(loop);
        }
        try {
            probe(Options.none());
            for (int i = 0; i < 20; i++) {
                System.gc();
            }
        } finally {
            end.set(true);
            for (Thread loop : loops) {
                loop.join();
            }
        }
        assertThat(turns).hasPositiveValue();
    }

    private static long turnsUntil(AtomicBoolean end) {
        long turns = 1;
        while (!end.get()) {
            turns++;
        }
        return turns;
    }

    private static String ownerOfHandler(int signal) throws IOException {
        Memory action = new Memory(256);
        Function sigaction = NativeLibrary.getProcess().getFunction("sigaction");
        assertThat(sigaction.invokeInt(new Object[] {signal, null, action})).isZero();
        long handler = action.getLong(0);
        for (String line : Files.readAllLines(Path.of("/proc/self/maps"))) {
            String[] range = line.substring(0, line.indexOf(' ')).split("-");
            if (Long.parseUnsignedLong(range[0], 16) <= handler && handler < Long.parseUnsignedLong(range[1], 16)) {
                return line;
            }
        }
        return "of no library: " + handler;
    }

    @ParameterizedTest
    @ValueSource(strings = {"77", "no such device", "custom"})
    void required_501_anAbsentDeviceIsReportedWithThoseThatExist(String wanted) {
        assertAbsent(
                Options.none().with(OpenClOptions.DEVICE, wanted),
                "penstock.opencl.device=" + wanted + " matches none of [device 0: ",
                "penstock.opencl.device");
    }

    @Test
    void required_501_aLibraryBesideTheOneInUseIsRefusedWithBoth() {
        assertAbsent(
                Options.none().with(OpenClOptions.LIBRARY, "/nowhere/libOpenCL.so.1"),
                "/nowhere/libOpenCL.so.1",
                "penstock.opencl.library");
    }

    @ParameterizedTest
    @ValueSource(strings = {"mine", "-1"})
    void aContextThatIsNoneIsTheCallersError(String text) {
        assertThatThrownBy(() -> Backends.open("opencl-ssg", Options.none().with(OpenClOptions.CONTEXT, text)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.opencl.context=" + text)
                .hasMessageContaining("the address of a cl_context");
    }

    @Test
    void theDeviceIsNamedByTheCapabilities() {
        try (Backend backend = Backends.open("opencl-ssg", Options.none().with(OpenClOptions.DEVICE, "0"))) {
            assertThat(backend.capabilities().device()).isNotBlank();
            assertThat(backend.capabilities().features())
                    .anyMatch(line -> line.startsWith("own context on device 0: "));
        }
    }
}
