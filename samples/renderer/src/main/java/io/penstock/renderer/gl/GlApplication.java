// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gl;

import io.penstock.Backend;
import io.penstock.Options;
import io.penstock.backend.gl.HeadlessContext;
import io.penstock.renderer.gl.ffi.GlCalls;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * An application that draws without a window: a context, current on a thread of its own, and a backend that shares
 * buffers, textures and sync objects with it.
 *
 * <p><b>Threading:</b> any thread; submitted calls run on the thread with the context.
 *
 * <p><b>Ownership:</b> it owns the backend.
 */
public final class GlApplication implements AutoCloseable {

    private static final String THREAD = "penstock-drawing";

    private final ExecutorService thread = Executors.newSingleThreadExecutor(GlApplication::thread);
    private final Scheduler scheduler = Schedulers.fromExecutorService(thread, THREAD);
    private volatile @Nullable Thread itself;
    private @Nullable HeadlessContext context; // used by the thread
    private @Nullable Backend backend;

    private GlApplication() {}

    private static Thread thread(Runnable calls) {
        Thread thread = new Thread(calls, THREAD);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Opens both.
     *
     * @throws io.penstock.BackendUnavailableException if there is no OpenGL here, or it is too old
     */
    public static GlApplication open(Options options) {
        GlApplication application = new GlApplication();
        try {
            application.backend = application.call(() -> application.begin(options));
            return application;
        } catch (RuntimeException | Error e) {
            application.close();
            throw e;
        }
    }

    private Backend begin(Options options) {
        itself = Thread.currentThread();
        HeadlessContext here = HeadlessContext.open(options);
        context = here;
        return here.share();
    }

    /** Returns the backend that fills the application's objects. */
    public Backend backend() {
        return Objects.requireNonNull(backend);
    }

    /** Returns the thread of the context, for signals. */
    Scheduler scheduler() {
        return scheduler;
    }

    /**
     * Runs calls to OpenGL on the thread, and waits for their result.
     *
     * @throws IllegalStateException with OpenGL's error, if a call failed
     */
    <T> T call(Supplier<T> calls) {
        if (Thread.currentThread() == itself) {
            return calls.get();
        }
        try {
            return CompletableFuture.supplyAsync(calls, thread).join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof RuntimeException failed) {
                throw failed;
            }
            throw e;
        }
    }

    /** Like {@link #call}, without a result. */
    void run(Runnable calls) {
        call(() -> {
            calls.run();
            return 0;
        });
    }

    /** Returns an integer parameter of OpenGL. */
    int number(int name) {
        return call(() -> {
            int[] value = new int[1];
            GlCalls.glGetIntegerv(name, value);
            check("glGetIntegerv");
            return value[0];
        });
    }

    /**
     * Checks that OpenGL has no error; on its thread.
     *
     * @throws IllegalStateException with OpenGL's error
     */
    static void check(String call) {
        int error = GlCalls.glGetError();
        if (error != 0) {
            throw new IllegalStateException(call + " -> 0x" + Integer.toHexString(error));
        }
    }

    @Override
    public void close() {
        if (backend != null) {
            backend.close();
        }
        run(() -> {
            if (context != null) {
                context.close();
            }
        });
        scheduler.dispose();
        thread.shutdown();
    }
}
