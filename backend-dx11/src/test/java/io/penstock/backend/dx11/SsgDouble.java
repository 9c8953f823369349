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
 * AMD's driver ({@code amd-double.c}), which is told what to do and asked what it has seen. A test that uses a buffer, file
 * or event as the manual does not want fails.
 */
final class SsgDouble implements BeforeAllCallback, BeforeEachCallback, AfterEachCallback {

    static final String READ = "ReadBufferFromFile";
    static final String WRITE = "WriteBufferToFile";
    static final int BLOCK = 4096;

    private static final Path FILE = Path.of("target", "wine", "amd-double.dll");

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

    /** Forgets all orders and counts; structures and numbers are those of one of two layouts from now on. */
    static void reset(int layout) {
        call("ssg_reset", layout);
    }

    /** Returns what tells the backend of a layout. */
    static Options options(int layout) {
        boolean first = layout == 1;
        return Options.none()
                .with(Dx11Options.PATH, Dx11Path.SSG)
                .with(Dx11Options.SSG_LIBRARY, FILE.toAbsolutePath().toString())
                .with(Dx11Options.SSG_INTERFACE, first ? "0x51" : "28673")
                .with(Dx11Options.SSG_READ_ACCESS, first ? "1" : "0x100")
                .with(Dx11Options.SSG_WRITE_ACCESS, first ? "2" : "0x200")
                .with(Dx11Options.SSG_LAYOUT, first ? """
                        handle=8 version=12:major@0/4,minor@4/4,build@8/4 info=16:file@0/8,block@8/4
                        region=24:file@0/8,buffer@8/8,size@16/8""" : """
                        region=16:size@0/4,buffer@4/4,file@8/8 info=16:block@0/4,file@8/8
                        version=16:build@0/8,minor@8/4,major@12/4 handle=4""");
    }

    /** Has the next calls of a function answer so. */
    static void answer(String function, int answer, int times) {
        call("ssg_answer", function, answer, times);
    }

    /** Holds the disk, or lets it go on. */
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
