// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.engine.kit.WrappedFile;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.testing.Requests;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A queue whose calls throw. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CallQueueTest {

    private static final int COMMANDS = 300;

    private static final class Throwing extends BlockingCalls {

        Throwing() {
            super(null, CuFile.API);
        }

        @Override
        public void make(CallTask task) {
            throw new IllegalStateException("request " + task.tag);
        }

        @Override
        public void close() {}
    }

    @Test
    void required_401_eachOfManyFailuresKeepsItsOwnCause() {
        CallQueue queue = new CallQueue(new Throwing(), COMMANDS, 1);
        NativeFile unasked = new WrappedFile<>(null, Limits.none(4096)) {};
        Requests requests = new Requests();
        for (int tag = 0; tag < COMMANDS; tag++) {
            queue.enqueue(requests.next(tag).sync(unasked));
        }
        while (requests.ended() < COMMANDS) {
            queue.turn(-1);
        }
        for (int tag = 0; tag < COMMANDS; tag++) {
            assertThat(requests.failure(tag).orElseThrow().error().symbol())
                    .isEqualTo("java.lang.IllegalStateException: request " + tag);
        }
        queue.close();
    }
}
