// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import io.penstock.Options;
import io.penstock.tck.Require;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * AMD's driver ({@code amd-fake.c}), which takes orders, and reports what it has seen. A test that uses a buffer,
 * file or event as the manual does not want fails.
 */
final class SsgFake implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback {

    static final String READ = "ReadBufferFromFile";
    static final String WRITE = "WriteBufferToFile";
    static final int BLOCK = 4096;

    /** The header of layout 1. */
    static final String HEADER = """
            interface=0x51 read=1 write=2 handle=8
            version.major=4 version.minor=4 version.build=4
            info.file=8 info.block=4
            region.file=8 region.buffer=8 region.size=8""";

    private static final Path FILE = Path.of("target", "wine", "amd-fake.dll");

    @Override
    public void beforeAll(ExtensionContext context) {
        require();
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        reset(1);
    }

    @Override
    public void afterEach(ExtensionContext context) {
        assertThat(complaints()).isEmpty();
        assertThat(live()).as("what is left of the driver's").isZero();
    }

    private static boolean isHere() {
        return System.getProperty("os.name").startsWith("Windows") && Files.exists(FILE);
    }

    static void require() {
        Dx11s.require();
        Require.backend("dx11", Files.exists(FILE) ? null : "backend-dx11/wine/run compiles " + FILE);
    }

    /** Forgets all orders and counts; from now on, structures and numbers have one of two layouts. */
    static void reset(int layout) {
        call("ssg_reset", layout);
    }

    /** Returns what tells the backend of a layout. */
    static Options options(int layout) {
        boolean first = layout == 1;
        return Options.none()
                .with(Dx11Options.PATH, Dx11Path.SSG)
                .with(Dx11Options.SSG_LIBRARY, FILE.toAbsolutePath().toString())
                .with(Dx11Options.SSG_HEADER, first ? HEADER : """
                        region.size=4 region.buffer=4 region.file=8 info.block=4 info.file=8
                        version.build=8 version.minor=4 version.major=4 handle=4
                        interface=28673 read=0x100 write=0x200""");
    }

    /** Has the next calls of a function answer so. */
    static void answer(String function, int answer, int times) {
        call("ssg_answer", function, answer, times);
    }

    /** Holds the disk, or lets it continue. */
    static void hold(boolean hold) {
        call("ssg_hold", hold ? 1 : 0);
    }

    static int calls(String function) {
        return call("ssg_calls", function);
    }

    /** Returns the most regions of one call. */
    static int mostRegions() {
        return call("ssg_most_regions");
    }

    /** Returns the most transfers at a time. */
    static int mostInFlight() {
        return call("ssg_most_in_flight");
    }

    /** Returns the count of references, files and events that are held. */
    static int live() {
        return isHere() ? call("ssg_live") : 0;
    }

    static String complaints() {
        return isHere() ? function("ssg_complaints").invokeString(new Object[0], false) : "";
    }

    private static int call(String function, Object... arguments) {
        return function(function).invokeInt(arguments);
    }

    private static Function function(String name) {
        return NativeLibrary.getInstance(FILE.toAbsolutePath().toString()).getFunction(name);
    }
}
