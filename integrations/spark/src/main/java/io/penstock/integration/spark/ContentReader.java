// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Backend;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.TransferPath;
import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.Formats;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;

/**
 * Reads the content of rows by a backend of the executor.
 *
 * <p><b>Threading:</b> blocks; an interrupt cancels what is in flight. For one thread at a time.
 *
 * <p><b>Ownership:</b> holds a lease on the backend, and the file that was read last, since the next region is usually
 * one of the same, until it is closed.
 */
abstract class ContentReader implements AutoCloseable {

    final TransferMetric.Values metrics;
    final FileTimes times;
    final ExecutorBackend.Lease lease = ExecutorBackend.lease();
    final Backend backend;
    private @Nullable StorageFile file;
    private @Nullable ArrayFile metadata;

    ContentReader(TransferMetric.Values metrics, FileTimes times, Function<ExecutorBackend.Lease, Backend> backend) {
        this.metrics = metrics;
        this.times = times;
        this.backend = backend.apply(lease);
    }

    /** A blocking read. */
    @FunctionalInterface
    interface Read<T> {
        T run() throws IOException, InterruptedException;
    }

    /**
     * Waits until as many bytes are free, and reads.
     *
     * @param first what is read, for messages
     * @param permit takes over the bytes
     */
    final <T> T granted(Region first, long bytes, Consumer<Disposable> permit, Read<T> read) throws IOException {
        try {
            long started = System.nanoTime();
            permit.accept(lease.budget().acquire(bytes));
            long granted = System.nanoTime();
            metrics.waited(granted - started);
            T content = read.run();
            metrics.read(System.nanoTime() - granted);
            return content;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("reading " + first + " was interrupted").initCause(e);
        }
    }

    /** Returns the file of a region, open until the file of another region is wanted. */
    final StorageFile file(Region region) throws IOException, InterruptedException {
        StorageFile open = file;
        if (open == null || !open.path().toString().equals(region.path())) {
            closeFile();
            open = backend.blocking().openFile(Path.of(region.path()), FileOption.READ);
            file = open;
        }
        return open;
    }

    /** Loads an array that lies in chunks, which are decoded; the caller closes it. */
    final LoadedArrays load(Region region) throws IOException, InterruptedException {
        LoadedArrays loaded = Objects.requireNonNull(
                backend.blocking().await(Loader.of(backend).load(arrayOf(region))));
        metrics.moved(TransferPath.HOST, region.length()); // where chunks are decoded
        return loaded;
    }

    /** Returns an array that lies in chunks, as a file that has no other. */
    private ArrayFile arrayOf(Region region) throws IOException, InterruptedException {
        ArrayFile read = metadata;
        if (read == null || !read.path().equals(Path.of(region.path()))) {
            read = backend.blocking().await(Formats.read(Path.of(region.path())));
            metadata = read;
        }
        ArrayFile all = Objects.requireNonNull(read);
        Array array = all.array(region.name())
                .filter(found -> found.bytes() == region.length())
                .orElseThrow(
                        () -> new IOException("the array is not what it was when the query was planned: " + region));
        return new ArrayFile(all.path(), all.format(), all.attributes(), List.of(array));
    }

    private void closeFile() {
        if (file != null) {
            file.close();
            file = null;
        }
    }

    @Override
    public void close() {
        closeFile();
        lease.close();
    }
}
