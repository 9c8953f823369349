// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.scheduler.Scheduler;

/**
 * The threads for calls on files that may block: opening, cutting, closing. Few for each folder, since on a mount that
 * hangs none returns; and none of Reactor's, which all of the application shares. Folders, since which file system a
 * path leads to is known only to a call that may hang itself.
 *
 * <p>Thread-safe.
 */
public final class FileThreads {

    private static final int MOST = 1024;
    private static final int MOST_IN_FOLDER = 16;

    /** As long as Reactor keeps its own. */
    private static final int KEEP_SECONDS = 60;

    /** Created at its first use. */
    private static final class Shared {
        static final FileThreads INSTANCE =
                new FileThreads(Offload.threads(MOST, Integer.MAX_VALUE, "penstock-file", KEEP_SECONDS));
    }

    private static final class Folder {
        int running;
        final ArrayDeque<Runnable> waiting = new ArrayDeque<>();
    }

    private final Scheduler scheduler;
    private final Map<Object, Folder> folders = new HashMap<>(); // guarded by itself

    /** Creates it over others' threads; for simulations. */
    public FileThreads(Scheduler scheduler) {
        this.scheduler = scheduler;
    }

    /** Returns the threads of the process. */
    public static FileThreads shared() {
        return Shared.INSTANCE;
    }

    /**
     * Runs a call on a file.
     *
     * @throws java.util.concurrent.RejectedExecutionException if the application has shut the threads down
     */
    public void run(Path file, Runnable call) {
        Path parent = file.getParent();
        Object key = parent == null ? file.getFileSystem() : parent;
        synchronized (folders) {
            Folder folder = folders.computeIfAbsent(key, unused -> new Folder());
            if (folder.running == MOST_IN_FOLDER) {
                folder.waiting.add(call);
                return;
            }
            folder.running++;
        }
        try {
            scheduler.schedule(() -> runAll(key, call));
        } catch (RuntimeException | Error refused) { // such as no more threads
            Runnable other = next(key);
            if (other != null) {
                run(file, other);
            }
            throw refused;
        }
    }

    private void runAll(Object key, Runnable first) {
        for (Runnable call = first; call != null; call = next(key)) {
            try {
                call.run();
            } catch (RuntimeException | Error e) {
                Thread thread = Thread.currentThread();
                thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
            }
        }
    }

    private @Nullable Runnable next(Object key) {
        synchronized (folders) {
            Folder folder = folders.get(key);
            if (folder == null) {
                return null;
            }
            Runnable next = folder.waiting.poll();
            if (next == null && --folder.running == 0) {
                folders.remove(key);
            }
            return next;
        }
    }
}
