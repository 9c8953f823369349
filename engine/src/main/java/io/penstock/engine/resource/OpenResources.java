// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.FileOption;
import io.penstock.engine.resource.EngineFile.OpenedFile;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Route;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The files and buffers of one backend that are open, to be closed with it. Thread-safe. */
public final class OpenResources {

    private final Set<AutoCloseable> open = ConcurrentHashMap.newKeySet();
    private final Set<BufferExport> exports = ConcurrentHashMap.newKeySet();

    void exported(BufferExport export) {
        exports.add(export);
    }

    void unexported(BufferExport export) {
        exports.remove(export);
    }

    /** Returns what other devices can still reach. */
    public List<BufferExport> exports() {
        return List.copyOf(exports);
    }

    public EngineBuffer add(EngineBuffer buffer) {
        open.add(buffer);
        return buffer;
    }

    void forget(AutoCloseable closed) {
        open.remove(closed);
    }

    /** Opens a file for every route; the last route's failure is the caller's, others' are reasons to refuse. */
    public EngineFile openFile(Owner owner, List<Route> routes, Path path, Set<FileOption> options) throws IOException {
        if (!owner.enter()) {
            throw Failures.closed("opening " + path, "the backend");
        }
        List<OpenedFile> natives = new ArrayList<>();
        try {
            // The general route first: it makes or cuts the file, the others only open what is there then.
            NativeFile general = routes.get(routes.size() - 1).open(path, options);
            natives.add(new OpenedFile(general, ""));
            Set<FileOption> again = EnumSet.copyOf(options);
            again.removeAll(Set.of(FileOption.CREATE, FileOption.CREATE_NEW, FileOption.TRUNCATE));
            for (int route = routes.size() - 2; route >= 0; route--) {
                natives.add(0, open(routes.get(route), path, again));
            }
            EngineFile file = new EngineFile(owner, path, Set.copyOf(options), List.copyOf(natives));
            open.add(file);
            return file;
        } finally {
            owner.leave();
        }
    }

    private static OpenedFile open(Route route, Path path, Set<FileOption> options) {
        try {
            return new OpenedFile(route.open(path, options), "");
        } catch (IOException | RuntimeException e) {
            return new OpenedFile(null, route.path() + " cannot open " + path + ": " + e.getMessage());
        }
    }

    /** Closes all; what transfers still use is freed by the last of them. */
    public void closeAll() {
        for (AutoCloseable resource : open) {
            if (resource instanceof EngineFile file) {
                file.close();
            } else if (resource instanceof EngineBuffer buffer) {
                buffer.close();
            }
        }
    }

    /** Returns how many are open, and closed ones that a transfer still uses. */
    int count() {
        return open.size();
    }
}
