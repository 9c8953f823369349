// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.nvme.controller.Controller;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;

/** The opening of a queue pair that is cancelled while the handle is on its way to the subscriber. */
class HandleOpeningTest {

    private static final int ROUNDS = 200;

    /** With the thread of the pair the pair itself, its memory and its use of the controller would stay. */
    @Test
    void aHandleIsClosedWheneverTheCancelComes() throws Exception {
        Submitter.require();
        EmulatedController emulated = new EmulatedController(Submitter.program("controller"), "shadow");
        Controller controller = Controller.open("cancelled", () -> emulated, Duration.ofSeconds(20));
        for (int round = 0; round < ROUNDS; round++) {
            AtomicReference<Thread> started = new AtomicReference<>();
            BaseSubscriber<QueuePairHandle> subscriber = new BaseSubscriber<>() {
                @Override
                protected void hookOnSubscribe(Subscription subscription) {
                    request(1);
                }

                @Override
                protected void hookOnNext(QueuePairHandle handle) {
                    handle.close(); // it has met no cancel
                }
            };
            QueuePairHandle.open(controller::join, 4, 0, task -> new Thread(task) {
                        @Override
                        public synchronized void start() {
                            super.start();
                            started.set(this);
                        }
                    })
                    .subscribe(subscriber);
            Thread thread = started.get();
            while (thread == null) {
                Thread.onSpinWait();
                thread = started.get();
            }
            for (int turns = round % 200; turns > 0; turns--) {
                Thread.onSpinWait();
            }
            subscriber.cancel();
            thread.join(30_000);
            assertThat(thread.isAlive())
                    .as("the pair of round %s is open", round)
                    .isFalse();
        }
        emulated.close();
    }
}
