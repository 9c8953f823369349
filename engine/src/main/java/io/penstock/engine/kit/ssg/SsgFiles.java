// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.FileOption;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.host.HostFiles;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files of one backend that the driver has opened; its paths, and several openings of one file, share them.
 *
 * <p><b>Threading:</b> thread-safe; opening and closing block, but not each other.
 */
final class SsgFiles {

    private static final String BOTH_RIGHTS =
            "AMD's manual requires the rights to read and to write a file, also to read it, and it may not be written";

    private record Key(Object identity, boolean writes) {}

    private final Map<Key, SsgHandle> open = new HashMap<>(); // guarded by this, as are the users of each

    /**
     * Opens an existing file.
     *
     * @param opener opens files with the driver
     * @throws SsgRefusal if the driver refuses the file
     */
    SsgHandle open(SsgFileObject.Opener opener, Path path, Set<FileOption> options) throws IOException {
        boolean writes = options.contains(FileOption.WRITE);
        HostFile host = host(path, writes);
        Key key = new Key(host.identity(), writes);
        SsgHandle known = enter(key, null);
        if (known != null) {
            host.close();
            return known;
        }
        // Not under the lock: the thread that calls the driver may also be one that closes files.
        SsgHandle opened;
        try {
            opened = SsgHandle.open(opener, host, writes);
        } catch (SsgRefusal refused) {
            throw mayBeWritten(path) ? refused : refused.with(BOTH_RIGHTS);
        }
        SsgHandle entered = enter(key, opened);
        if (entered == null) {
            return opened;
        }
        opened.close(); // another thread was faster
        return entered;
    }

    /** Returns whether this process may write to a file, and not only since it is root. */
    private static boolean mayBeWritten(Path path) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(path, PosixFileAttributeView.class);
        return Files.isWritable(path)
                && (view == null
                        || view.readAttributes().permissions().stream()
                                .anyMatch(right -> right.name().endsWith("_WRITE")));
    }

    /**
     * Adds a user to the handle of a file and returns it; if there is none, registers {@code fresh} and returns null.
     */
    private synchronized @Nullable SsgHandle enter(Key key, @Nullable SsgHandle fresh) {
        SsgHandle known = open.get(key);
        if (known != null) {
            known.enter();
        } else if (fresh != null) {
            open.put(key, fresh);
        }
        return known;
    }

    /**
     * Opens an existing file on the host: always for reading too, since partial blocks are read, merged and written.
     * Without O_DIRECT: this descriptor is for lengths only.
     */
    static HostFile host(Path path, boolean writes) throws IOException {
        Set<FileOption> how = writes ? EnumSet.of(FileOption.READ, FileOption.WRITE) : EnumSet.of(FileOption.READ);
        return HostFiles.open(path, how, Limits.LINUX_MAX_BYTES);
    }

    /** Closes a handle returned by {@link #open}. */
    void close(SsgHandle handle) {
        synchronized (this) {
            if (!handle.leave()) {
                return;
            }
            open.values().remove(handle);
        }
        handle.close();
    }
}
