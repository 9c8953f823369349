// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.WrappedFile;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A queue whose calls throw. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallQueueTest {

    private static final int COMMANDS = 300;

    private static final class Throwing extends BlockingCalls {

        Throwing() {
            super(null);
        }

        @Override
        long run(CallTask task) {
            throw new IllegalStateException("command " + task.id);
        }

        @Override
        public void close() {}
    }

    @Test
    void required_401_eachOfManyFailuresKeepsItsOwnCause() {
        CallQueue queue = new CallQueue(new Throwing(), COMMANDS, 1);
        NativeFile unasked = new WrappedFile<>(null, Limits.none(4096)) {};
        for (int id = 0; id < COMMANDS; id++) {
            queue.enqueue(id, new Command().sync(unasked));
        }
        Map<Integer, Long> results = new HashMap<>();
        while (results.size() < COMMANDS) {
            queue.turn(-1, results::put);
        }
        results.forEach((id, result) -> assertThat(
                        queue.failure(Command.Kind.SYNC, result).error().symbol())
                .isEqualTo("java.lang.IllegalStateException: command " + id));
        queue.close();
    }
}
