// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.Backend;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** How a thread of Lucene, which has no asynchronous calls, waits for transfers. */
final class Waiting {

    private Waiting() {}

    static CompletableFuture<@Nullable Completion> submit(Backend backend, Transfer transfer) {
        return backend.blocking().future(backend.submit(transfer));
    }

    /**
     * Waits for a transfer of {@code file}. An interrupt ends the wait and stays set; the transfer goes on.
     *
     * @throws IOException names the file, and has the failure as its cause
     */
    static Completion await(CompletableFuture<@Nullable Completion> transfer, Object file) throws IOException {
        return Objects.requireNonNull(get(transfer, file), "a transfer must have a completion");
    }

    /** Waits until what was written to a file is durable; as {@link #await}. */
    static void sync(Backend backend, StorageFile file) throws IOException {
        get(backend.blocking().future(file.sync()), file.path());
    }

    private static <T> @Nullable T get(CompletableFuture<@Nullable T> transfer, Object file) throws IOException {
        try {
            return transfer.get();
        } catch (InterruptedException e) {
            throw interrupted(file, e);
        } catch (ExecutionException e) {
            Throwable cause = Objects.requireNonNull(e.getCause());
            if (cause instanceof ClosedException closed) {
                throw closed;
            }
            throw new IOException(file + ": " + cause.getMessage(), cause);
        }
    }

    static DeviceBuffer allocate(Backend backend, long bytes, Object file) throws IOException {
        try {
            return backend.blocking().allocate(bytes);
        } catch (InterruptedException e) {
            throw interrupted(file, e);
        }
    }

    static IOException interrupted(Object file, InterruptedException cause) {
        Thread.currentThread().interrupt();
        return (IOException) new InterruptedIOException("interrupted while " + file + " was accessed").initCause(cause);
    }
}
