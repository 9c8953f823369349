// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.Backend.Counters;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.resource.EngineFile.OpenedFile;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.IoPath;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** The files and buffers of one backend that are open, to be closed with it. Thread-safe. */
public final class OpenResources {

    private final Set<AutoCloseable> open = ConcurrentHashMap.newKeySet();
    private final Set<BufferExport> exports = ConcurrentHashMap.newKeySet();
    private final AtomicInteger closing = new AtomicInteger();
    private volatile boolean lost;

    void exported(BufferExport export) {
        exports.add(export);
    }

    void unexported(BufferExport export) {
        exports.remove(export);
    }

    /** Adds to the number of files that are being closed; negative once they are. */
    void closing(int files) {
        closing.addAndGet(files);
    }

    /** Returns the number of files that are being closed. */
    public int closing() {
        return closing.get();
    }

    /** Returns the exports that are not released. */
    public List<BufferExport> exports() {
        return List.copyOf(exports);
    }

    public EngineBuffer add(EngineBuffer buffer) {
        open.add(buffer);
        if (lost) { // pairs with deviceLost()
            buffer.revoke();
        }
        return buffer;
    }

    /** Revokes the buffers, also buffers that are added later: their device is lost. */
    public void deviceLost() {
        if (!lost) {
            lost = true;
            for (AutoCloseable resource : open) {
                if (resource instanceof EngineBuffer buffer) {
                    buffer.revoke();
                }
            }
        }
    }

    void remove(AutoCloseable closed) {
        open.remove(closed);
    }

    /**
     * Opens a file for every path. A failure of the last path is thrown; failures of the others become their refusals.
     */
    public EngineFile openFile(Owner owner, List<IoPath> ioPaths, Path path, Set<FileOption> options)
            throws IOException {
        if (!owner.enter()) {
            throw Failures.closed("opening " + path, "the backend");
        }
        List<OpenedFile> natives = new ArrayList<>();
        try {
            // The general path first: it creates or truncates the file, the others only open it.
            NativeFile general = ioPaths.get(ioPaths.size() - 1).open(path, options);
            natives.add(new OpenedFile(general, ""));
            Set<FileOption> again = EnumSet.copyOf(options);
            again.removeAll(Set.of(FileOption.CREATE, FileOption.CREATE_NEW, FileOption.TRUNCATE));
            for (int ioPath = ioPaths.size() - 2; ioPath >= 0; ioPath--) {
                natives.add(0, open(ioPaths.get(ioPath), path, again));
            }
            EngineFile file = new EngineFile(owner, path, Set.copyOf(options), List.copyOf(natives));
            open.add(file);
            return file;
        } catch (IOException | RuntimeException | Error e) {
            natives.forEach(OpenedFile::close);
            throw e;
        } finally {
            owner.leave();
        }
    }

    /** Opens a file on another host. */
    public EngineFile openRemote(
            Owner owner,
            List<IoPath> ioPaths,
            RemoteProvider provider,
            URI uri,
            Set<FileOption> fileOptions,
            Options options)
            throws IOException {
        if (!owner.enter()) {
            throw Failures.closed("opening " + RemoteProvider.name(uri), "the backend");
        }
        try {
            AsyncFile remote = opened(provider, uri, fileOptions, options);
            try {
                EngineFile file = new RemoteFile(owner, uri, Set.copyOf(fileOptions), remote, ioPaths);
                open.add(file);
                return file;
            } catch (RuntimeException | Error e) {
                try (remote) {
                    throw e; // also if the close fails
                }
            }
        } finally {
            owner.leave();
        }
    }

    /** Opens it; a limit of this process is no answer of the host, whatever call has met it. */
    private static AsyncFile opened(RemoteProvider provider, URI uri, Set<FileOption> fileOptions, Options options)
            throws IOException {
        try {
            return provider.open(uri, fileOptions, options);
        } catch (IOException e) {
            RuntimeException limit = HostFailure.ofLimit(RemoteProvider.name(uri), e);
            if (limit != null) {
                throw limit;
            }
            throw e;
        }
    }

    private static OpenedFile open(IoPath ioPath, Path path, Set<FileOption> options) {
        try {
            return new OpenedFile(ioPath.open(path, options), "");
        } catch (IOException | RuntimeException e) {
            return new OpenedFile(null, ioPath.path() + " cannot open " + path + ": " + e.getMessage());
        }
    }

    /** Closes all; a resource that transfers still use is freed by the last of them. */
    public void closeAll() {
        for (AutoCloseable resource : open) {
            if (resource instanceof EngineFile file) {
                file.close();
            } else if (resource instanceof EngineBuffer buffer) {
                buffer.close();
            }
        }
    }

    /** Returns the number of open resources, plus closed ones that a transfer still uses. */
    int count() {
        return open.size();
    }

    /** Returns counters of which the files, the buffers and their pins are set. */
    public Counters counters(int inFlight, int stagingBuffers, int stagingBuffersInUse, long fallbacks) {
        int files = 0;
        int buffers = 0;
        long pins = 0;
        for (AutoCloseable resource : open) {
            if (resource instanceof EngineFile file) {
                files++;
                pins += file.count();
            } else if (resource instanceof EngineBuffer buffer) {
                buffers++;
                pins += buffer.uses();
            }
        }
        return new Counters(inFlight, files, buffers, pins, stagingBuffers, stagingBuffersInUse, fallbacks);
    }
}
