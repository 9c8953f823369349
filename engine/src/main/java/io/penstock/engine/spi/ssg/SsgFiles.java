// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.FileOption;
import io.penstock.engine.host.HostFile;
import io.penstock.engine.spi.Limits;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files of one backend that AMD's driver has opened; its routes, and several openings of one file, share them.
 *
 * <p><b>Threading:</b> thread-safe; opening and closing block, but not each other.
 */
final class SsgFiles {

    private record Key(Object identity, boolean writes) {}

    private final Map<Key, SsgHandle> open = new HashMap<>(); // guarded by this, as the users of each are

    /**
     * Opens an existing file.
     *
     * @param opener knows the driver
     * @throws SsgRefusal if the driver does not take it
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
        // Not while it is locked: the driver may have to be called by a thread that also closes files.
        SsgHandle opened = SsgHandle.open(opener, host, writes);
        SsgHandle entered = enter(key, opened);
        if (entered == null) {
            return opened;
        }
        opened.close(); // another thread was quicker
        return entered;
    }

    /** Becomes a user of the handle of a file; where there is none registers {@code fresh}, and returns null. */
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
     * Opens an existing file as the host does: also for reading, since what is not whole blocks is read before it is merged
     * and written. The disk is not asked to bypass its cache: this descriptor is for lengths only.
     */
    static HostFile host(Path path, boolean writes) throws IOException {
        Set<FileOption> how = writes ? EnumSet.of(FileOption.READ, FileOption.WRITE) : EnumSet.of(FileOption.READ);
        return HostFile.open(path, how, Limits.LINUX_MAX_BYTES);
    }

    /** Gives back what {@link #open} gave. */
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
