// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ssg;

import io.penstock.NativeError;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.host.ErrnoException;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongFunction;

/**
 * The negative results of a queue of AMD's extension: the driver's answers, those of host I/O, and one for what was taken back.
 *
 * <p><b>Threading:</b> thread-safe.
 */
public final class SsgResults {

    /** What was not submitted. */
    public static final long CANCELLED = Long.MIN_VALUE;

    /** Results of host I/O lie below; the driver's answers above. */
    private static final long HOST = Long.MIN_VALUE / 2;

    /** Results that stand for an exception lie below. */
    private static final long THROWN = HOST + HOST / 2;

    private static final int REMEMBERED = 256;
    private static final AtomicLong NEXT = new AtomicLong();
    private static final AtomicReferenceArray<Throwable> RECENT = new AtomicReferenceArray<>(REMEMBERED);

    private SsgResults() {}

    /** Returns the result that stands for one of {@link BlockingBytes}. */
    public static long ofHost(long result) {
        return result < 0 ? HOST + result : result;
    }

    /** Returns the result that stands for an exception; the last 256 are remembered. */
    public static long ofHost(Throwable thrown) {
        if (thrown instanceof IOException io && !(io instanceof ErrnoException) && !(io instanceof SsgRefusal)) {
            return ofHost(BlockingBytes.INSTANCE.result(io));
        }
        long number = NEXT.getAndIncrement() % REMEMBERED;
        RECENT.set((int) number, thrown);
        return THROWN - number;
    }

    /**
     * Returns what a negative result means.
     *
     * @param driver tells what its answers mean
     */
    public static NativeFailure failure(Command.Kind kind, long result, LongFunction<NativeFailure> driver) {
        if (result == CANCELLED) {
            return new NativeFailure(new NativeError("cancel", 0, "not submitted"), NativeFailure.Kind.CANCELLED);
        }
        if (result <= THROWN) {
            return thrown((int) (THROWN - result));
        }
        return result < HOST ? BlockingBytes.INSTANCE.failure(kind, result - HOST) : driver.apply(result);
    }

    private static NativeFailure thrown(int number) {
        Throwable thrown = RECENT.get(number);
        NativeError error = null;
        if (thrown instanceof ErrnoException errno) {
            error = errno.nativeError();
        } else if (thrown instanceof SsgRefusal refusal) {
            error = refusal.nativeError();
        }
        return new NativeFailure(
                error != null ? error : new NativeError("a look at the file", 0, String.valueOf(thrown)),
                NativeFailure.Kind.PERMANENT);
    }
}
