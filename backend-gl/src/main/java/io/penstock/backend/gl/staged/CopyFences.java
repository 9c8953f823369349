// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.staged;

import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.context.GlFailure;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.NativeFailure;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reports completed copies; copies complete in submission order. While copies are in flight, up to eight that follow
 * share one fence: a GPU idles for some microseconds at each ({@code tools/benchmarks/experiments/fences.c}: an H200
 * copies segments of 1 MiB at 40 GB/s with a fence behind each, and at 45 with a fence behind every sixteenth).
 *
 * <p><b>Threading:</b> the context's thread.
 */
final class CopyFences {

    private static final int MOST_COPIES = 8; // copies with a fence behind them

    /** A lost context may leave fences unsignalled: its state is queried once per this many polls without progress. */
    private static final int POLLS_PER_QUERY = 64;

    private final GlContext context;
    private final int mostCopies;
    private long copies; // copies so far; each copy is numbered with the count
    private long fenced; // copies up to this number have a fence behind them
    private long ended; // up to here
    private long[] syncs = new long[16]; // a ring, the oldest at first
    private long[] numbers = new long[syncs.length]; // number of the last copy before each
    private int first;
    private int count;
    private int polls;
    private @Nullable NativeFailure failure; // requests of the next two: the last, and all since the first
    private long failedFrom = Long.MAX_VALUE;
    private long failedTo;

    CopyFences(GlContext context) {
        this.context = context;
        // A render loop polls once per frame; a copy without a fence by then would complete a frame late.
        this.mostCopies = context.isOwnThread() ? MOST_COPIES : 1;
    }

    /** Counts and numbers a copy that was just issued; returns its failure, or null. */
    @Nullable
    NativeFailure behind(GlCall call, GlCopy copy) {
        int refused = GlFailure.takeError();
        int reset = refused == GlError.CONTEXT_LOST ? context.resetStatus() : GlError.NO_ERROR;
        if (reset != GlError.NO_ERROR) {
            return GlCall.RESET.failure(reset); // which names the cause
        }
        if (refused != GlError.NO_ERROR) {
            Gl.glFinish(); // boxes before the refused box of a texture may be under way
            return call.failure(refused);
        }
        copy.number = ++copies;
        int failed = count == 0 || copies - fenced == mostCopies ? place() : GlError.NO_ERROR;
        return failed == GlError.NO_ERROR ? null : GlCall.FENCE.failure(failed);
    }

    /** Inserts a fence behind the copies without one; if that fails, waits for them and returns the error. */
    private int place() {
        long sync = Gl.glFenceSync(Gl.GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
        if (sync == 0) {
            int failed = GlFailure.takeError();
            Gl.glFinish(); // the copies are under way, and nothing will tell when they have ended
            endAll();
            return failed;
        }
        Gl.glFlush(); // a fence that is not flushed may never be passed
        if (count == syncs.length) {
            grow();
        }
        int last = (first + count++) % syncs.length;
        syncs[last] = sync;
        numbers[last] = copies;
        fenced = copies;
        return GlError.NO_ERROR;
    }

    private void grow() {
        int length = syncs.length;
        long[] inOrder = Arrays.copyOf(syncs, 2 * length);
        long[] lasts = Arrays.copyOf(numbers, 2 * length);
        for (int i = 0; i < length; i++) {
            inOrder[i] = syncs[(first + i) % length];
            lasts[i] = numbers[(first + i) % length];
        }
        syncs = inOrder;
        numbers = lasts;
        first = 0;
    }

    /** Returns true if a copy has completed or failed. */
    boolean hasEnded(GlCopy copy) {
        while (copy.number > ended && poll()) {
            // and further
        }
        return copy.number <= ended;
    }

    /** Returns the failure of a completed copy; null if it succeeded. */
    @Nullable
    NativeFailure failure(GlCopy copy) {
        return copy.number < failedFrom || copy.number > failedTo ? null : failure;
    }

    /** Polls the oldest fence; returns true if copies have completed. */
    private boolean poll() {
        int state = Gl.glClientWaitSync(syncs[first], 0, 0);
        if (state == Gl.GL_TIMEOUT_EXPIRED) {
            return ++polls % POLLS_PER_QUERY == 0 && isLost();
        }
        long to = numbers[first];
        if (state == Gl.GL_WAIT_FAILED || state == 0) {
            int failed = GlFailure.takeError();
            int reset = context.resetStatus();
            if (reset == GlError.NO_ERROR && GlFailure.cause(failed).isEmpty()) {
                Gl.glFinish(); // the answer is the question's, not the copies', which may run on
            }
            fail(to, reset == GlError.NO_ERROR ? GlCall.WAIT.failure(failed) : GlCall.RESET.failure(reset));
        } else {
            // Fences of a lost context count as signalled, whatever became of the copies.
            int reset = context.resetStatus();
            if (reset != GlError.NO_ERROR) {
                fail(to, GlCall.RESET.failure(reset));
            }
        }
        drop();
        ended = to;
        if (count == 0 && copies > fenced) {
            place();
        }
        return true;
    }

    private boolean isLost() {
        int reset = context.resetStatus();
        if (reset == GlError.NO_ERROR) {
            return false;
        }
        fail(copies, GlCall.RESET.failure(reset));
        endAll();
        return true;
    }

    private void fail(long to, NativeFailure cause) {
        failure = cause;
        failedFrom = Math.min(failedFrom, ended + 1);
        failedTo = to;
    }

    private void endAll() {
        while (count > 0) {
            drop();
        }
        fenced = copies;
        ended = copies;
    }

    private void drop() {
        Gl.glDeleteSync(syncs[first]);
        first = (first + 1) % syncs.length;
        count--;
    }
}
