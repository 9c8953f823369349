// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.gl.doubles.SsgDouble;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.testing.DoubleControl;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Copies and the fences behind them, on the machine's OpenGL. */
class CopyFencesTest {

    private static final int PIECE = 64 << 10;
    private static final int COPIES = 100; // more than there is room for at first, however many share a fence

    private CopyFences fences;
    private GlContext context;

    @BeforeEach
    void require() {
        GlSubject.require();
    }

    /** Runs something on the thread of a context, with two mapped buffers of which the first is full. */
    private void with(Consumer<GlSlot[]> test) {
        context = GlContext.start(ContextChoice.of(Options.none().resolve(Backends.options())));
        try {
            context.call("a test", () -> {
                GlSlot[] slots = {slot(), slot()};
                ByteBuffer from = view(slots[0]);
                for (int at = 0; at < from.capacity(); at += Long.BYTES) {
                    from.putLong(at, at + 1);
                }
                fences = new CopyFences(context);
                test.accept(slots);
                slots[0].free();
                slots[1].free();
                return true;
            });
        } finally {
            context.leave();
        }
    }

    private GlSlot slot() {
        return GlSlot.allocate(context, (long) COPIES * PIECE, true);
    }

    private static ByteBuffer view(GlSlot slot) {
        return NativeMemory.view(slot.hostAddress(), slot.bytes());
    }

    private GlCopy copy(GlSlot[] slots, int piece) {
        GlCopy copy = new GlCopy();
        assertThat(start(slots, piece, copy)).isNull();
        return copy;
    }

    private @Nullable NativeFailure start(GlSlot[] slots, int piece, GlCopy copy) {
        long at = (long) piece * PIECE;
        context.buffers().copy(slots[0].name(), slots[0].start() + at, slots[1].name(), slots[1].start() + at, PIECE);
        return fences.behind(GlCall.COPY, copy);
    }

    /** Asks until a copy has ended, for so long that one that does not ends the test; returns why it failed, or null. */
    private @Nullable NativeFailure end(GlCopy copy) {
        long start = System.nanoTime();
        while (!fences.hasEnded(copy)) {
            assertThat(System.nanoTime() - start).as("the copy has not ended").isLessThan(GlFixture.LONG.toNanos());
        }
        return fences.failure(copy);
    }

    @Test
    void aCopyHasEndedWhenItsBytesAreThereAndThoseBeforeItToo() {
        with(slots -> {
            GlCopy[] copies = new GlCopy[COPIES];
            for (int i = 0; i < COPIES; i++) {
                copies[i] = copy(slots, i);
            }
            ByteBuffer to = view(slots[1]);
            for (int i = 0; i < COPIES; i += 7) {
                assertThat(end(copies[i])).isNull();
                for (int earlier = 0; earlier <= i; earlier++) {
                    assertThat(fences.hasEnded(copies[earlier])).isTrue();
                    int last = (earlier + 1) * PIECE - Long.BYTES;
                    assertThat(to.getLong(last)).isEqualTo(last + 1);
                }
            }
        });
    }

    @Test
    void theLastCopyEndsThoughNothingComesBehindIt() {
        with(slots -> {
            for (int round = 1; round <= 9; round++) {
                GlCopy last = copy(slots, 0);
                for (int i = 1; i < round; i++) {
                    last = copy(slots, i);
                }
                assertThat(end(last)).isNull();
            }
        });
    }

    @Test
    void aCopyThatIsRefusedFailsAloneAndByItsName() {
        with(slots -> {
            GlCopy before = copy(slots, 0);
            context.buffers().copy(slots[0].name(), 0, slots[1].name(), 0, -1);
            NativeFailure refused = fences.behind(GlCall.COPY, new GlCopy());
            GlCopy behind = copy(slots, 1);
            assertThat(String.valueOf(refused)).contains("glCopyBufferSubData");
            assertThat(end(behind)).isNull();
            assertThat(end(before)).isNull();
        });
    }

    @Test
    void aFenceThatCannotBeAskedFailsItsCopiesOnceTheContextHasFinished() {
        SsgDouble.require();
        with(slots -> {
            GlCopy asked = copy(slots, 0);
            DoubleControl control = SsgDouble.control();
            long finishes = control.calls("glFinish");
            control.fail("glClientWaitSync", 1, Gl.GL_WAIT_FAILED, GlError.INVALID_VALUE);
            NativeFailure failure = end(asked);
            assertThat(String.valueOf(failure)).contains("glClientWaitSync");
            assertThat(control.calls("glFinish") - finishes)
                    .as("the copies may have run on")
                    .isEqualTo(1);
            assertThat(end(copy(slots, 1))).isNull();
            assertThat(end(asked)).as("asked once more").isEqualTo(failure);
        });
    }

    @Test
    void whereThereIsNoFenceTheContextFinishes() {
        SsgDouble.require();
        with(slots -> {
            DoubleControl control = SsgDouble.control();
            long finishes = control.calls("glFinish");
            control.fail("glFenceSync", 1, GlError.OUT_OF_MEMORY);
            assertThat(String.valueOf(start(slots, 0, new GlCopy()))).contains("glFenceSync");
            assertThat(control.calls("glFinish") - finishes).isEqualTo(1);
            assertThat(end(copy(slots, 1))).isNull();
        });
    }

    @Test
    void ofManyCopiesEveryFourthHasAFence() {
        SsgDouble.require();
        with(slots -> {
            DoubleControl control = SsgDouble.control();
            long before = control.calls("glFenceSync");
            GlCopy last = copy(slots, 0);
            for (int i = 1; i < 9; i++) {
                last = copy(slots, i);
            }
            assertThat(control.calls("glFenceSync") - before)
                    .as("the first, the fifth, the ninth")
                    .isEqualTo(3);
            assertThat(end(last)).isNull();
        });
    }
}
