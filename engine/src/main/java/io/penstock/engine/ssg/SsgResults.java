// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ssg;

import io.penstock.NativeError;
import io.penstock.engine.host.BlockingBytes;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.NativeFailure;
import java.util.Objects;
import java.util.function.LongFunction;

/**
 * The negative results of a queue of AMD's extension: the driver's answers, those of host I/O, one for what was taken back,
 * and those of commands that keep an exception.
 */
public final class SsgResults {

    /** What was not submitted. */
    public static final long CANCELLED = Long.MIN_VALUE;

    /** Results of host I/O lie below; the driver's answers above. */
    private static final long HOST = Long.MIN_VALUE / 2;

    /** Results of commands that keep an exception lie below, by id. */
    private static final long THROWN = HOST + HOST / 2;

    private SsgResults() {}

    /** Returns the result that stands for one of {@link BlockingBytes}. */
    static long ofHost(long result) {
        return result < 0 ? HOST + result : result;
    }

    /** Returns the result of a command that keeps what was thrown. */
    static long threw(int id) {
        return THROWN - id;
    }

    /**
     * Returns what a negative result means.
     *
     * @param commands those of the queue, by id
     * @param driver returns what an answer of its means
     */
    public static NativeFailure failure(
            Command.Kind kind, long result, SsgCommand<?>[] commands, LongFunction<NativeFailure> driver) {
        if (result == CANCELLED) {
            return new NativeFailure(new NativeError("cancel", 0, "not submitted"), NativeFailure.Kind.CANCELLED);
        }
        if (result <= THROWN) {
            return thrown(kind, Objects.requireNonNull(commands[(int) (THROWN - result)].thrown()));
        }
        return result < HOST ? BlockingBytes.INSTANCE.failure(kind, result - HOST) : driver.apply(result);
    }

    private static NativeFailure thrown(Command.Kind kind, Throwable thrown) {
        NativeError error = thrown instanceof SsgRefusal refusal ? refusal.nativeError() : null;
        return error != null
                ? new NativeFailure(error, NativeFailure.Kind.PERMANENT)
                : BlockingBytes.INSTANCE.failure(kind, thrown);
    }
}
