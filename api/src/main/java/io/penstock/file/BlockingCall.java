// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;
import reactor.core.scheduler.Schedulers;

/** Runs calls that block on a file system, on a thread that may block. */
public final class BlockingCall {

    private BlockingCall() {}

    /**
     * Emits the result; nothing if it is null. Where the process has as many open files as it may, the error is a
     * {@link io.penstock.TransientStorageException} that names the limit. A cancel interrupts the call, and an exception
     * of it is then dropped without a log entry: errors are passed on as values, which {@code Hooks.onErrorDropped} does
     * not see.
     *
     * <p>A cancel after the call interrupts nothing. With {@code subscribeOn} it would interrupt the subscribers that
     * the result is delivered to on that thread: {@code dematerialize} cancels once it has received the end.
     */
    public static <T> Mono<T> of(Callable<T> call) {
        return Mono.<Signal<T>>create(sink -> {
                    AtomicBoolean cancelled = new AtomicBoolean();
                    Disposable.Swap task = Disposables.swap();
                    sink.onCancel(() -> {
                        cancelled.set(true);
                        task.dispose();
                    });
                    task.update(Schedulers.boundedElastic().schedule(() -> {
                        Signal<T> end = signal(call);
                        if (!cancelled.get()) {
                            sink.success(end);
                        }
                    }));
                })
                .dematerialize();
    }

    /** A call without a result. */
    @FunctionalInterface
    public interface Step {

        void run() throws Exception;
    }

    /** Completes when a call has returned; otherwise as {@link #of}. */
    public static Mono<Void> run(Step step) {
        return of(() -> {
            step.run();
            return null;
        });
    }

    private static <T> Signal<T> signal(Callable<T> call) {
        try {
            T result = call.call();
            return result == null ? Signal.complete() : Signal.next(result);
        } catch (Throwable e) { // also errors that are fatal to Reactor, which it would not signal
            return Signal.error(NativeFiles.ofSystem().ofLimit(e));
        }
    }
}
