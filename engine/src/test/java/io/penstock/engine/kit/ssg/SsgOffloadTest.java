// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import reactor.core.Exceptions;
import reactor.core.scheduler.Schedulers;

/** Calls that another thread makes when the test says so. */
class SsgOffloadTest {

    private static final class Task extends SsgCommand {

        Task() {
            super(new Request(0, (request, bytes, failure) -> {}));
        }
    }

    private final ArrayDeque<Runnable> elsewhere = new ArrayDeque<>();
    private final Wakeup wakeup = new Wakeup();
    private final SsgOffload<Task> offload = new SsgOffload<>(wakeup, elsewhere::add);
    private final Task task = new Task();

    @Test
    void aCommandIsReturnedWithItsResultWhenTheCallHasReturned() {
        offload.run(task, () -> task.ends(42));
        assertThat(offload.poll()).as("before the call").isNull();
        assertThat(wakeup.poll()).isFalse();
        elsewhere.remove().run();
        assertThat(wakeup.poll()).as("the I/O queue is woken").isTrue();
        assertThat(offload.poll()).isSameAs(task);
        assertThat(task.moved()).isEqualTo(42);
        assertThat(offload.poll()).as("twice").isNull();
    }

    @Test
    void anExceptionIsTheResult() {
        SsgRefusal refused = new SsgRefusal("a file", new NativeError("open", 7, "SEVEN"));
        offload.run(task, () -> {
            throw refused;
        });
        elsewhere.remove().run();
        assertThat(offload.poll()).isSameAs(task);
        assertThat(failure().error()).isEqualTo(new NativeError("open", 7, "SEVEN"));

        offload.run(task, () -> {
            throw new IllegalStateException("shut");
        });
        elsewhere.remove().run();
        assertThat(offload.poll()).isSameAs(task);
        assertThat(failure().error().toString()).contains("shut");

        offload.run(task, () -> {
            throw new IOException("gone");
        });
        elsewhere.remove().run();
        assertThat(offload.poll()).isSameAs(task);
        assertThat(failure().error().toString()).contains("gone");
    }

    private NativeFailure failure() {
        return Objects.requireNonNull(task.failure());
    }

    /** The application may have shut Reactor's threads down, or the system may permit no more threads. */
    @Test
    void aCallThatReactorDoesNotTakeLosesNoCommand() {
        Thread test = Thread.currentThread();
        Runnable shut = () -> {
            throw Exceptions.failWithRejected();
        };
        Runnable full = () -> {
            throw new OutOfMemoryError("unable to create native thread");
        };
        for (Runnable refusal : List.of(shut, full)) {
            Schedulers.onScheduleHook("none", run -> {
                if (Thread.currentThread() == test) {
                    refusal.run();
                }
                return run;
            });
            try {
                SsgOffload<Task> late = new SsgOffload<>(wakeup);
                late.run(task, () -> task.ends(42));
                wakeup.await(-1);
                assertThat(late.poll()).isSameAs(task);
                assertThat(task.moved()).isEqualTo(42);
            } finally {
                Schedulers.resetOnScheduleHook("none");
            }
        }
    }

    @Test
    void aTokenReleasedByAnotherThreadIsReturnedUnchanged() {
        task.fails(SsgCommand.CANCELLED);
        offload.giveBack(task);
        assertThat(wakeup.poll()).isTrue();
        assertThat(offload.poll()).isSameAs(task);
        assertThat(task.failure()).isSameAs(SsgCommand.CANCELLED);
    }

    @Test
    void anErrorIsTheResultToo() {
        offload.run(task, () -> {
            throw new UnsatisfiedLinkError("the driver lacks a function");
        });
        elsewhere.remove().run();
        assertThat(offload.poll()).isSameAs(task);
        assertThat(failure().error().toString()).contains("the driver lacks a function");
        assertThat(wakeup.poll()).isTrue();
    }

    @Test
    void aCommandWhoseThreadHasEndedIsReturned() {
        Executor ended = call -> {
            throw new RejectedExecutionException("the context has ended");
        };
        offload.run(task, () -> {}, ended, () -> task.ends(42));
        elsewhere.remove().run();
        assertThat(offload.poll()).isSameAs(task);
        assertThat(failure().error().toString()).contains("the context has ended");
        assertThat(wakeup.poll()).isTrue();
    }
}
