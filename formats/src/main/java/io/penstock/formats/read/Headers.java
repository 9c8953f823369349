// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.ArrayFile;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import reactor.core.Exceptions;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** The metadata of several files, some of which are read ahead: the files of a model, perhaps on another host. */
public final class Headers {

    private static final int AT_A_TIME = 8;

    private Headers() {}

    /**
     * Makes the calls, and returns their results in their order; blocks. If some fail, the error is the error of the
     * first of them in their order. An interrupt of the caller interrupts all calls.
     *
     * <p>The caller makes each call itself unless a thread that helps it has begun to: so it waits for calls that run
     * only, and never for a thread, of which there may be none left.
     */
    public static List<ArrayFile> read(List<Callable<ArrayFile>> calls) throws IOException {
        return read(calls, Schedulers.boundedElastic());
    }

    static List<ArrayFile> read(List<Callable<ArrayFile>> calls, Scheduler helpers) throws IOException {
        List<FutureTask<ArrayFile>> tasks = calls.stream().map(FutureTask::new).toList();
        List<ArrayFile> files = new ArrayList<>();
        try {
            help(tasks, helpers);
            for (FutureTask<ArrayFile> task : tasks) {
                task.run(); // does nothing if it has begun
                files.add(task.get());
            }
            return files;
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNullElse(e.getCause(), e);
            if (cause instanceof IOException failed) {
                throw failed;
            }
            throw cause instanceof InterruptedException ? interrupted() : Exceptions.propagate(cause);
        } catch (InterruptedException e) {
            throw interrupted();
        } finally {
            tasks.forEach(task -> task.cancel(true));
        }
    }

    private static RuntimeException interrupted() throws IOException {
        Thread.currentThread().interrupt();
        throw new ClosedByInterruptException();
    }

    private static void help(List<FutureTask<ArrayFile>> tasks, Scheduler helpers) {
        try {
            for (int i = 1; i < Math.min(tasks.size(), AT_A_TIME); i++) {
                List<FutureTask<ArrayFile>> ahead = tasks.subList(i, tasks.size());
                helpers.schedule(() -> ahead.forEach(FutureTask::run));
            }
        } catch (RejectedExecutionException e) {
            // its queues are full, and the caller makes the calls alone
        }
    }
}
