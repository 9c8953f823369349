// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class StepsTest {

    private final List<String> ran = new CopyOnWriteArrayList<>();
    private final Witness<Object> open = Witness.of(Mono.never());

    private void run(String name) {
        ran.add(name + " on " + Thread.currentThread().getName());
    }

    @Test
    void tasksWaitAndAreRunOneAtATimeByTheCaller() {
        String here = Thread.currentThread().getName();
        try (Steps steps = Steps.begin()) {
            Schedulers.parallel().schedule(() -> {
                run("a");
                Schedulers.boundedElastic().schedule(() -> run("b"));
            });
            steps.next(open);
            assertThat(ran).containsExactly("a on " + here);
            steps.next(open);
            assertThat(ran).containsExactly("a on " + here, "b on " + here);
        }
    }

    @Test
    void theEndOfAPublisherEndsTheWait() {
        try (Steps steps = Steps.begin()) {
            Schedulers.parallel().schedule(() -> run("late"));
            Witness<Object> ended = Witness.of(Mono.empty());
            steps.next(ended);
            assertThat(ran).isEmpty();
        }
    }

    @Test
    void pendingTasksAreRunAtCloseAndLaterOnesByTheirCaller() throws InterruptedException {
        CountDownLatch arrived = new CountDownLatch(1);
        CountDownLatch later = new CountDownLatch(1);
        Steps steps = Steps.begin();
        Schedulers.parallel().schedule(() -> {
            run("waiting");
            arrived.countDown();
        });
        steps.close();
        assertThat(arrived.await(Bench.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        Schedulers.parallel().schedule(later::countDown);
        assertThat(later.await(Bench.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }
}
