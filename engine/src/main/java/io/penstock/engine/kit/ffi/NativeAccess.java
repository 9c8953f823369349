// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import com.sun.jna.Native;
import io.penstock.Availability;
import io.penstock.BackendUnavailableException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Why JNA cannot call native code in this process.
 *
 * @param cause the first failure, which later failures of the JVM hide
 * @param remedy what would help
 */
public record NativeAccess(String cause, String remedy) {

    private static final String FIRST = "Exception "; // how the JVM quotes it in later failures
    private static final String THREAD = " [in thread ";

    /** Returns why JNA cannot be used here, or null if it can. */
    public static @Nullable NativeAccess refusal() {
        return Attempt.REFUSAL;
    }

    /**
     * Returns what {@code probe} finds, or why it cannot. Never throws (rule 501).
     *
     * @param probe uses native code
     * @param remedy what helps where it throws that the backend is unavailable
     */
    public static Availability probe(Supplier<Availability> probe, String remedy) {
        try {
            NativeAccess refusal = refusal();
            return refusal == null ? probe.get() : Availability.absent(refusal.reason(), refusal.remedy());
        } catch (BackendUnavailableException e) {
            return Availability.absent(String.valueOf(e.getMessage()), remedy);
        } catch (RuntimeException | LinkageError e) {
            return Availability.absent("the probe failed: " + e, "report this");
        }
    }

    /** Returns the cause of an error of a class that uses JNA. */
    public static NativeAccess of(LinkageError error) {
        Throwable root = error;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String cause = root.toString();
        String message = root.getMessage();
        if (root instanceof ExceptionInInitializerError && message != null && message.startsWith(FIRST)) {
            int end = message.lastIndexOf(THREAD);
            cause = message.substring(FIRST.length(), end < 0 ? message.length() : end);
        }
        return new NativeAccess(cause, remedy(cause));
    }

    private static String remedy(String cause) {
        if (cause.contains("IllegalCallerException")) {
            return "allow native access: --enable-native-access=ALL-UNNAMED, or com.sun.jna where JNA is a module";
        }
        if (cause.contains("java/util/logging") || cause.contains("java.util.logging")) {
            return "add the module java.logging, which JNA needs, to the runtime image";
        }
        return "let JNA unpack its library: set jna.tmpdir to a directory that allows execution";
    }

    /** Returns that JNA cannot be used, and the cause. */
    public String reason() {
        return "JNA cannot be used (" + cause + ")";
    }

    /** Returns reason and remedy in one sentence. */
    @Override
    public String toString() {
        return reason() + ": " + remedy;
    }

    /** Tried in a separate class, so that this one can be loaded where JNA cannot. */
    private static final class Attempt {
        static final @Nullable NativeAccess REFUSAL = refusal();

        private static @Nullable NativeAccess refusal() {
            try {
                return Native.POINTER_SIZE == Long.BYTES
                        ? null
                        : new NativeAccess("pointers of " + Native.POINTER_SIZE + " bytes", "use a 64-bit JVM");
            } catch (LinkageError error) {
                return of(error);
            }
        }
    }
}
