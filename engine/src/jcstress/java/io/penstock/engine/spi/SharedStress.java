// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/** {@link Shared}: a key has one value at a time, which is open while it has users and closed once. */
public final class SharedStress {

    /** A close that takes no time is over before another thread could see it under way. */
    private static final int CLOSE_SPINS = 200;

    private SharedStress() {}

    /** Plain fields: the registry alone orders the accesses. */
    private static final class Value {
        int written;
        int seen; // by the closer
        int closed;

        void close() {
            seen = written;
            for (int i = 0; i < CLOSE_SPINS; i++) {
                Thread.onSpinWait();
            }
            closed++;
        }
    }

    @JCStressTest
    @Outcome(id = "0, 0, 1", expect = ACCEPTABLE, desc = "opened before the last has left: the same value, open")
    @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "after that: a new one, behind the close of the old one")
    @Outcome(expect = FORBIDDEN, desc = "a closed value, a new one beside the old one, or a close that misses a user's write")
    @State
    public static class OpenAgainstLastLeave {
        private final Shared<Integer, Value> shared = new Shared<>(Value::close);
        private final Value first = shared.open(0, Value::new);

        @Actor
        public void leaves() {
            first.written = 1;
            shared.leave(first);
        }

        @Actor
        public void opens(III_Result r) {
            Value mine = shared.open(0, () -> {
                Value made = new Value();
                made.closed = first.closed - 1; // 0 behind the close
                return made;
            });
            r.r1 = mine == first ? 0 : 1;
            r.r2 = mine.closed;
            shared.leave(mine);
        }

        @Arbiter
        public void after(III_Result r) {
            r.r3 = first.closed == 1 ? first.seen : -1;
        }
    }

    @JCStressTest
    @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "one value, which both see whole")
    @Outcome(expect = FORBIDDEN, desc = "two values, half a value, or a wrong count")
    @State
    public static class TwoOpens {
        private final Shared<Integer, Value> shared = new Shared<>(Value::close);
        private volatile int opened;

        private Value open() {
            return shared.open(0, () -> {
                opened++;
                Value made = new Value();
                made.written = 1;
                return made;
            });
        }

        @Actor
        public void one(III_Result r) {
            r.r1 = open().written;
        }

        @Actor
        public void other(III_Result r) {
            r.r2 = open().written;
        }

        @Arbiter
        public void after(III_Result r) {
            Value value = shared.open(0, Value::new);
            boolean three = !shared.leave(value) && !shared.leave(value) && shared.leave(value);
            r.r3 = three && opened == 1 && value.closed == 1 ? 0 : 1;
        }
    }
}
