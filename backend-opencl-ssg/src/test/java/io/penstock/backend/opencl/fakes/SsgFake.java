// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.fakes;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import io.penstock.engine.testing.FakeControl;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The fake of AMD's SSG driver, a layer that every OpenCL call of this JVM passes. Unarmed it only counts; armed, there
 * is an SSG. {@link FreshSsg} does what a test needs; {@code src/test/c/ssg/ssg.h} lists what {@link #set} may set.
 *
 * <p>{@link #control} knows the functions of OpenCL and of its extensions by their own names: {@code fail} answers any
 * call with a code, {@code fail("late:clEnqueueReadSsgFileAMD", ...)} ends a command's event with it, {@code delay},
 * {@code hold} and {@code release} are for all commands with a wait list, armed or not. {@code live} counts contexts,
 * queues, buffers, images, events and files that the application holds; operations that have not ended;
 * persistent_bytes; and since the reset fallbacks (buffers that were meant for persistent memory) and unreferenced (the
 * first use of such memory).
 */
public final class SsgFake {

    /** What {@code PENSTOCK_REQUIRE} calls what needs a C compiler, OpenCL's headers and Linux. */
    public static final String NAME = "fakes";

    private static final List<String> HELD = List.of(
            "contexts",
            "queues",
            "buffers",
            "images",
            "events",
            "files",
            "operations",
            "device_operations",
            "persistent_bytes");

    private SsgFake() {}

    /** Built, loaded and named to OpenCL once, or the reason why not. */
    private static final class Built {
        static final @Nullable String UNAVAILABLE;
        static final Path LAYER;
        static final @Nullable FakeControl CONTROL;
        static final @Nullable NativeLibrary LIBRARY;

        static {
            UNAVAILABLE = SsgLayerBuild.unavailable();
            if (UNAVAILABLE == null) {
                try {
                    LAYER = SsgLayerBuild.layer();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
                CONTROL = new FakeControl(LAYER);
                LIBRARY = NativeLibrary.getInstance(LAYER.toString());
                // Java's own environment is a copy that the loader does not read.
                Function setenv = NativeLibrary.getInstance("c").getFunction("setenv");
                setenv.invokeInt(new Object[] {"OPENCL_LAYERS", LAYER.toString(), 1});
            } else {
                LAYER = Path.of("");
                CONTROL = null;
                LIBRARY = null;
            }
        }
    }

    /** Names the layer to the OpenCL loader, where there can be one. */
    static void install() {
        // Where there can be none, each test that needs it is skipped with the reason.
        Objects.requireNonNull(Built.LAYER);
    }

    /** Skips the test with the reason unless the layer can be built here. */
    public static void require() {
        Require.backend(NAME, Built.UNAVAILABLE);
    }

    /** Returns the control of the layer. */
    public static FakeControl control() {
        require();
        FakeControl control = Built.CONTROL;
        if (control == null) {
            throw new IllegalStateException("the layer is not loaded");
        }
        return control;
    }

    /**
     * Ends all that runs, forgets all orders and counts, and disarms: what the application still holds counts no more.
     */
    public static void reset() {
        control().reset();
    }

    /** Makes an SSG of every device. */
    public static void arm() {
        control().set("armed", 1);
    }

    /** Sets a property of the SSG. */
    public static void set(String property, long value) {
        control().set(property, value);
    }

    /** Returns what the layer has refused since the reset, the last 64 at most: {@code function -> code: why}. */
    public static List<String> refusals() {
        NativeLibrary library = library();
        List<String> refusals = new ArrayList<>();
        long count = (Long) library.getFunction("fake_refusals").invoke(Long.class, new Object[0]);
        for (long i = Math.max(0, count - 64); i < count; i++) {
            Pointer line = (Pointer) library.getFunction("fake_refusal").invoke(Pointer.class, new Object[] {i});
            if (line != null) {
                refusals.add(line.getString(0));
            }
        }
        return refusals;
    }

    /** Returns the layer, for what else it exports. */
    static NativeLibrary library() {
        require();
        NativeLibrary library = Built.LIBRARY;
        if (library == null) {
            throw new IllegalStateException("the layer is not loaded");
        }
        return library;
    }

    /** Returns the first wrong use that a driver need not have noticed. */
    public static Optional<String> complaint() {
        return control().complaint();
    }

    /** Returns how often the application holds a context, queue, buffer, image, event or file object; 0 for none. */
    public static long references(long handle) {
        return (Long) library().getFunction("fake_references").invoke(Long.class, new Object[] {handle});
    }

    /**
     * Returns what the application holds since the reset, by kind; kinds of which it holds none are left out. The layer
     * may still be busy with the end of a command that the application has seen end: it gets the time that this takes.
     */
    public static Map<String, Long> held() {
        Map<String, Long> held = new LinkedHashMap<>();
        for (String kind : HELD) {
            long count = control().awaitLive(kind, 0);
            if (count != 0) {
                held.put(kind, count);
            }
        }
        return held;
    }
}
