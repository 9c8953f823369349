// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.BufferRegion;
import io.penstock.DeviceQueue;
import io.penstock.FileOption;
import io.penstock.ImageRegion;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import io.penstock.engine.resource.BufferFile;
import io.penstock.engine.resource.EngineBuffer;
import io.penstock.engine.resource.EngineFile;
import java.net.URI;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;

/** Checks arguments: errors of the caller are thrown at once (rule 402). */
public final class Checks {

    private final EngineBackend backend;

    Checks(EngineBackend backend) {
        this.backend = backend;
    }

    void transfer(Transfer transfer) {
        int pairs = transfer.isGather() ? 1 : transfer.pairs(); // the pairs of a gather share file and buffer
        for (int pair = 0; pair < pairs; pair++) {
            StorageFile file = transfer.fileRegion(pair).file();
            Target target = transfer.target(pair);
            file(transfer, file);
            if (target instanceof ImageRegion && ((EngineFile) file).isAsync()) {
                throw new IllegalArgumentException(
                        transfer + ": buffers and files on other hosts are read into buffers, not into images");
            }
            target(transfer, target);
        }
        if (!transfer.isPlain()) {
            transfer.queue().ifPresent(queue -> queue(transfer, queue));
        }
    }

    private void queue(Transfer transfer, DeviceQueue queue) {
        if (!backend.driver().makes(queue)) {
            throw new IllegalArgumentException(transfer + ": " + queue + " is not a queue of " + backend);
        }
    }

    private void file(Transfer transfer, StorageFile file) {
        boolean buffer = file instanceof BufferFile; // of any backend
        if (!(file instanceof EngineFile own) || (own.owner() != backend && !buffer)) {
            throw new IllegalArgumentException(transfer + ": the file was not opened by " + backend);
        }
        if (transfer.isRead() ? !own.isReadable() : !own.isWritable()) {
            throw new IllegalArgumentException(transfer + ": the file must be opened with "
                    + (transfer.isRead() ? "READ" : "WRITE") + ", was opened with " + own.options());
        }
    }

    private void target(Transfer transfer, Target target) {
        if (target instanceof ImageRegion image) {
            image(transfer, image);
            return;
        }
        BufferRegion region = (BufferRegion) target;
        if (!(region.buffer() instanceof EngineBuffer own) || own.owner() != backend) {
            throw new IllegalArgumentException(transfer + ": the buffer was not allocated by " + backend);
        }
    }

    private void image(Transfer transfer, ImageRegion image) {
        if (!backend.capabilities().images()) {
            throw new IllegalArgumentException(transfer + ": " + backend + " has no images");
        }
        if (!transfer.isRead()) {
            throw new IllegalArgumentException(transfer + ": images can be read into, but not written from");
        }
        backend.driver().checkImage(image);
    }

    static void bufferBytes(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("buffer size must be at least 0 bytes, was " + bytes);
        }
    }

    static void fileOptions(Object file, Set<FileOption> options) {
        boolean makes = options.contains(FileOption.CREATE)
                || options.contains(FileOption.CREATE_NEW)
                || options.contains(FileOption.TRUNCATE);
        if (makes && !options.contains(FileOption.WRITE)) {
            throw new IllegalArgumentException(
                    "opening " + file + ": CREATE, CREATE_NEW and TRUNCATE require WRITE, options were " + options);
        }
        if (options.contains(FileOption.IMMUTABLE) && options.contains(FileOption.WRITE)) {
            throw new IllegalArgumentException("opening " + file + ": WRITE and IMMUTABLE exclude each other");
        }
    }

    static String scheme(URI uri) {
        if (uri.getScheme() == null) {
            throw new IllegalArgumentException(
                    "a URI of a file must have a scheme, such as file: or https:, was " + uri);
        }
        return uri.getScheme().toLowerCase(Locale.ROOT);
    }

    static void remoteOptions(URI uri, Set<FileOption> options, Set<FileOption> known) {
        if (!known.containsAll(options)) {
            throw new IllegalArgumentException("opening a " + uri.getScheme() + ": file: options must be among "
                    + new TreeSet<>(known) + ", were " + options);
        }
        fileOptions("a " + uri.getScheme() + ": file", options);
    }
}
