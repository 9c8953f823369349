// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.staged;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.gl.GlFixture;
import io.penstock.backend.gl.GlSubject;
import io.penstock.backend.gl.context.GlCall;
import io.penstock.backend.gl.context.GlContext;
import io.penstock.backend.gl.fakes.SsgFake;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.backend.gl.memory.GlStagingBuffer;
import io.penstock.backend.gl.platform.ContextChoice;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.testing.FakeControl;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Copies and the fences behind them, on the machine's OpenGL. */
class CopyFencesTest {

    private static final int SEGMENT = 64 << 10;
    private static final int COPIES = 100; // more than there is room for at first, however many share a fence

    private CopyFences fences;
    private GlContext context;

    @BeforeEach
    void require() {
        GlSubject.require();
    }

    /** Runs something on the thread of a context, with two mapped buffers of which the first is full. */
    private void with(Consumer<GlStagingBuffer[]> test) {
        context = GlContext.start(ContextChoice.of(Options.none().resolve(Backends.options())));
        try {
            context.call("a test", () -> {
                GlStagingBuffer[] stagingBuffers = {staging(), staging()};
                ByteBuffer from = view(stagingBuffers[0]);
                for (int at = 0; at < from.capacity(); at += Long.BYTES) {
                    from.putLong(at, at + 1);
                }
                fences = new CopyFences(context);
                test.accept(stagingBuffers);
                stagingBuffers[0].free();
                stagingBuffers[1].free();
                return true;
            });
        } finally {
            context.leave();
        }
    }

    private GlStagingBuffer staging() {
        return GlStagingBuffer.Pool.of(context).take((long) COPIES * SEGMENT);
    }

    private static ByteBuffer view(GlStagingBuffer staging) {
        return NativeMemory.view(staging.hostAddress(), staging.bytes());
    }

    private GlCopy copy(GlStagingBuffer[] stagingBuffers, int segment) {
        GlCopy copy = new GlCopy();
        assertThat(start(stagingBuffers, segment, copy)).isNull();
        return copy;
    }

    private @Nullable NativeFailure start(GlStagingBuffer[] stagingBuffers, int segment, GlCopy copy) {
        long at = (long) segment * SEGMENT;
        context.buffers()
                .copy(
                        stagingBuffers[0].name(),
                        stagingBuffers[0].start() + at,
                        stagingBuffers[1].name(),
                        stagingBuffers[1].start() + at,
                        SEGMENT);
        return fences.behind(GlCall.COPY, copy);
    }

    /**
     * Asks until a copy has ended, for so long that a copy which does not end fails the test; returns why it failed, or
     * null.
     */
    private @Nullable NativeFailure end(GlCopy copy) {
        long start = System.nanoTime();
        while (!fences.hasEnded(copy)) {
            assertThat(System.nanoTime() - start).as("the copy has not ended").isLessThan(GlFixture.LONG.toNanos());
        }
        return fences.failure(copy);
    }

    @Test
    void aCopyHasEndedWhenItsBytesAreThereAndThoseBeforeItToo() {
        with(stagingBuffers -> {
            GlCopy[] copies = new GlCopy[COPIES];
            for (int i = 0; i < COPIES; i++) {
                copies[i] = copy(stagingBuffers, i);
            }
            ByteBuffer to = view(stagingBuffers[1]);
            for (int i = 0; i < COPIES; i += 7) {
                assertThat(end(copies[i])).isNull();
                for (int earlier = 0; earlier <= i; earlier++) {
                    assertThat(fences.hasEnded(copies[earlier])).isTrue();
                    int last = (earlier + 1) * SEGMENT - Long.BYTES;
                    assertThat(to.getLong(last)).isEqualTo(last + 1);
                }
            }
        });
    }

    @Test
    void theLastCopyEndsWithoutAnotherBehindIt() {
        with(stagingBuffers -> {
            for (int round = 1; round <= 9; round++) {
                GlCopy last = copy(stagingBuffers, 0);
                for (int i = 1; i < round; i++) {
                    last = copy(stagingBuffers, i);
                }
                assertThat(end(last)).isNull();
            }
        });
    }

    @Test
    void aCopyThatIsRefusedFailsAloneAndByItsName() {
        with(stagingBuffers -> {
            GlCopy before = copy(stagingBuffers, 0);
            context.buffers().copy(stagingBuffers[0].name(), 0, stagingBuffers[1].name(), 0, -1);
            NativeFailure refused = fences.behind(GlCall.COPY, new GlCopy());
            GlCopy behind = copy(stagingBuffers, 1);
            assertThat(String.valueOf(refused)).contains("glCopyBufferSubData");
            assertThat(end(behind)).isNull();
            assertThat(end(before)).isNull();
        });
    }

    @Test
    void aFenceThatCannotBeQueriedFailsItsCopiesOnceTheContextHasFinished() {
        SsgFake.require();
        with(stagingBuffers -> {
            GlCopy asked = copy(stagingBuffers, 0);
            FakeControl control = SsgFake.control();
            long finishes = control.calls("glFinish");
            control.fail("glClientWaitSync", 1, Gl.GL_WAIT_FAILED, GlError.INVALID_VALUE);
            NativeFailure failure = end(asked);
            assertThat(String.valueOf(failure)).contains("glClientWaitSync");
            assertThat(control.calls("glFinish") - finishes)
                    .as("the copies may have run on")
                    .isEqualTo(1);
            assertThat(end(copy(stagingBuffers, 1))).isNull();
            assertThat(end(asked)).as("asked once more").isEqualTo(failure);
        });
    }

    @Test
    void withoutAFenceTheContextFinishes() {
        SsgFake.require();
        with(stagingBuffers -> {
            FakeControl control = SsgFake.control();
            long finishes = control.calls("glFinish");
            control.fail("glFenceSync", 1, GlError.OUT_OF_MEMORY);
            assertThat(String.valueOf(start(stagingBuffers, 0, new GlCopy()))).contains("glFenceSync");
            assertThat(control.calls("glFinish") - finishes).isEqualTo(1);
            assertThat(end(copy(stagingBuffers, 1))).isNull();
        });
    }

    @Test
    void ofManyCopiesEveryEighthHasAFence() {
        SsgFake.require();
        with(stagingBuffers -> {
            FakeControl control = SsgFake.control();
            long before = control.calls("glFenceSync");
            GlCopy last = copy(stagingBuffers, 0);
            for (int i = 1; i < 17; i++) {
                last = copy(stagingBuffers, i);
            }
            assertThat(control.calls("glFenceSync") - before)
                    .as("the first, the ninth, the seventeenth")
                    .isEqualTo(3);
            assertThat(end(last)).isNull();
        });
    }
}
