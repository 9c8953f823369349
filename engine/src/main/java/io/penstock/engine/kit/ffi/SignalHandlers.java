// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Preserves the JVM's signal handlers across calls into a vendor's library.
 *
 * <p>The JVM depends on its handlers: SIGSEGV stops a loop at a safepoint and detects null accesses, SIGFPE becomes an
 * {@link ArithmeticException}, SIGTERM a shutdown, SIGQUIT a thread dump. PoCL replaces all of these in its first
 * {@code clGetDeviceIDs}, most of them through LLVM ({@code Signals.inc}, {@code RegisterHandlers}: SA_RESETHAND, and
 * previous handlers are not called). Such a process exits minutes later, without a message, at the first safepoint that
 * finds a thread in a compiled loop.
 *
 * <p>A process that was started with {@code LD_PRELOAD=libjsig.so} has chained the handlers already; nothing needs to
 * be restored then.
 */
public final class SignalHandlers {

    private static final Logger LOG = LoggerFactory.getLogger(SignalHandlers.class);

    private static final int SIGNALS = 31; // the real-time signals above are for applications
    private static final int BYTES = 256; // more than the struct sigaction of any C library

    private SignalHandlers() {}

    /**
     * Calls {@code vendor}, and then restores each handler that it has replaced. Until then, a signal goes to the
     * vendor's handler: call this early, and keep the call short.
     */
    public static synchronized <T> T keep(Supplier<T> vendor) {
        if (!Machine.isSupported()) {
            return vendor.get();
        }
        long before = NativeMemory.allocate((SIGNALS + 2L) * BYTES);
        if (before == 0) {
            throw new OutOfMemoryError("no memory for " + SIGNALS + " struct sigaction");
        }
        try {
            for (int signal = 1; signal <= SIGNALS; signal++) {
                SignalCalls.sigaction(signal, 0, before + (long) signal * BYTES);
            }
            try {
                return vendor.get();
            } finally {
                putBack(before);
            }
        } finally {
            NativeMemory.free(before);
        }
    }

    private static void putBack(long before) {
        List<Integer> replaced = new ArrayList<>();
        for (int signal = 1; signal <= SIGNALS; signal++) {
            long old = before + (long) signal * BYTES;
            // SIGKILL and SIGSTOP have none; the call fails both times.
            if (SignalCalls.sigaction(signal, 0, before) == 0 && handler(before) != handler(old)) {
                SignalCalls.sigaction(signal, old, 0);
                replaced.add(signal);
            }
        }
        if (!replaced.isEmpty()) {
            LOG.debug("a vendor library had replaced the handlers of signals {}: restored", replaced);
        }
    }

    /** Returns the handler's address, which is the first word of a struct sigaction in every C library of Linux. */
    private static long handler(long sigaction) {
        return NativeMemory.view(sigaction, Long.BYTES).getLong(0);
    }

    /** In a separate class, since the C library of Windows has no such call. */
    private static final class SignalCalls {
        static {
            Native.register(SignalCalls.class, NativeLibrary.getProcess());
        }

        static native int sigaction(int signal, long action, long old);
    }
}
