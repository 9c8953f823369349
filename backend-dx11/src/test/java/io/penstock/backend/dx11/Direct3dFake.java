// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import io.penstock.Options;
import io.penstock.tck.Require;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** The d3d11.dll in front of the real one ({@code d3d11-fake.c}): what it is told, and what it has counted. */
final class Direct3dFake implements BeforeAllCallback, AfterEachCallback {

    private static final Path FILE = Path.of("target", "wine", "d3d11-fake.dll");

    private static final String D3D11 = Dx11Options.D3D11.name();

    @Override
    public void beforeAll(ExtensionContext context) {
        boolean windows = System.getProperty("os.name").startsWith("Windows");
        Require.backend(
                "dx11",
                !windows
                        ? "the fake of d3d11.dll is for Windows"
                        : Files.exists(FILE) ? null : "backend-dx11/wine/run compiles " + FILE);
        System.setProperty(D3D11, FILE.toAbsolutePath().toString()); // this JVM has no other
        Dx11s.require();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        call("fake_reset");
    }

    /** Returns what a backend on the fake is opened with. */
    static Options options(boolean fences) {
        call("fake_fences", fences ? 1 : 0);
        return Options.none().with(Dx11Options.COPY_COMPLETION, fences ? CopyCompletion.FENCE : CopyCompletion.QUERY);
    }

    /** Has copies not end from now on, or lets them. */
    static void hold(boolean hold) {
        call("fake_hold", hold ? 1 : 0);
    }

    /** Lets the next calls of SetEventOnCompletion fail. */
    static void refuseEvents(int next) {
        call("fake_refuse_events", next);
    }

    /** Lets the next calls of Signal fail. */
    static void refuseSignals(int next) {
        call("fake_refuse_signals", next);
    }

    /** Returns the calls of Map so far that waited for a held copy from or to what they map. */
    static int waitingMaps() {
        return call("fake_waiting_maps");
    }

    /** Returns the calls of SetEventOnCompletion so far. */
    static int events() {
        return call("fake_events");
    }

    /** Has staging buffers mapped at another place each time. */
    static void moveMaps() {
        call("fake_move_maps", 1);
    }

    /**
     * Takes all devices that there are away.
     *
     * @param reason an HRESULT
     * @param silently whether queries then never end, as with some drivers
     */
    static void remove(int reason, boolean silently) {
        call("fake_remove", reason, silently ? 1 : 0);
    }

    /** Returns the calls of Direct3D's methods so far, without calls that found a copy under way. */
    static int calls() {
        return call("fake_calls") - call("fake_polls");
    }

    private static int call(String function, Object... arguments) {
        Function called =
                NativeLibrary.getInstance(FILE.toAbsolutePath().toString()).getFunction(function);
        return called.invokeInt(arguments);
    }
}
