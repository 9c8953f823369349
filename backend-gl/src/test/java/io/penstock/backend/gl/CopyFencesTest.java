// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.gl.doubles.SsgDouble;
import io.penstock.backend.gl.ffi.Gl;
import io.penstock.backend.gl.ffi.GlError;
import io.penstock.engine.ffi.NativeMemory;
import io.penstock.engine.testing.DoubleControl;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
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

    private long copy(GlSlot[] slots, int piece) {
        long at = (long) piece * PIECE;
        context.buffers().copy(slots[0].name(), slots[0].start() + at, slots[1].name(), slots[1].start() + at, PIECE);
        return fences.behind(GlCall.COPY);
    }

    /** Asks until a copy has ended, for so long that one that does not ends the test. */
    private long end(long ticket) {
        long start = System.nanoTime();
        long answer;
        do {
            answer = fences.poll(ticket);
        } while (answer == 0 && System.nanoTime() - start < GlFixture.LONG.toNanos());
        return answer;
    }

    @Test
    void aCopyHasEndedWhenItsBytesAreThereAndThoseBeforeItToo() {
        with(slots -> {
            long[] tickets = new long[COPIES];
            for (int i = 0; i < COPIES; i++) {
                tickets[i] = copy(slots, i);
            }
            ByteBuffer to = view(slots[1]);
            for (int i = 0; i < COPIES; i += 7) {
                assertThat(end(tickets[i])).isEqualTo(1);
                for (int earlier = 0; earlier <= i; earlier++) {
                    assertThat(fences.poll(tickets[earlier])).isEqualTo(1);
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
                long last = 0;
                for (int i = 0; i < round; i++) {
                    last = copy(slots, i);
                }
                assertThat(end(last)).isEqualTo(1);
            }
        });
    }

    @Test
    void aCopyThatIsRefusedFailsAloneAndByItsName() {
        with(slots -> {
            long before = copy(slots, 0);
            context.buffers().copy(slots[0].name(), 0, slots[1].name(), 0, -1);
            long refused = fences.behind(GlCall.COPY);
            long behind = copy(slots, 1);
            assertThat(refused).isNegative();
            assertThat(GlCall.failure(refused).error().call()).isEqualTo("glCopyBufferSubData");
            assertThat(end(behind)).isEqualTo(1);
            assertThat(fences.poll(before)).isEqualTo(1);
        });
    }

    @Test
    void aFenceThatCannotBeAskedFailsItsCopiesOnceTheContextHasFinished() {
        SsgDouble.require();
        with(slots -> {
            long asked = copy(slots, 0);
            DoubleControl control = SsgDouble.control();
            long finishes = control.calls("glFinish");
            control.fail("glClientWaitSync", 1, Gl.GL_WAIT_FAILED, GlError.INVALID_VALUE);
            long answer = end(asked);
            assertThat(answer).isNegative();
            assertThat(GlCall.failure(answer).error().toString()).contains("glClientWaitSync");
            assertThat(control.calls("glFinish") - finishes)
                    .as("the copies may have run on")
                    .isEqualTo(1);
            assertThat(end(copy(slots, 1))).isEqualTo(1);
            assertThat(fences.poll(asked)).as("asked once more").isEqualTo(answer);
        });
    }

    @Test
    void whereThereIsNoFenceTheContextFinishes() {
        SsgDouble.require();
        with(slots -> {
            DoubleControl control = SsgDouble.control();
            long finishes = control.calls("glFinish");
            control.fail("glFenceSync", 1, GlError.OUT_OF_MEMORY);
            long answer = copy(slots, 0);
            assertThat(GlCall.failure(answer).error().toString()).contains("glFenceSync");
            assertThat(control.calls("glFinish") - finishes).isEqualTo(1);
            assertThat(end(copy(slots, 1))).isEqualTo(1);
        });
    }

    @Test
    void ofManyCopiesEveryFourthHasAFence() {
        SsgDouble.require();
        with(slots -> {
            DoubleControl control = SsgDouble.control();
            long before = control.calls("glFenceSync");
            long last = 0;
            for (int i = 0; i < 9; i++) {
                last = copy(slots, i);
            }
            assertThat(control.calls("glFenceSync") - before)
                    .as("the first, the fifth, the ninth")
                    .isEqualTo(3);
            assertThat(end(last)).isEqualTo(1);
        });
    }
}
