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

/**
 * The files of one backend that AMD's driver has opened; its routes, and several openings of one file, share them.
 *
 * <p><b>Threading:</b> thread-safe; opening and closing block.
 */
public final class SsgFiles {

    private record Key(Object identity, boolean writes) {}

    private final SsgFileObject.Opener opener;
    private final Map<Key, SsgHandle> open = new HashMap<>(); // guarded by this

    /**
     * Makes one without files.
     *
     * @param opener knows the driver
     */
    public SsgFiles(SsgFileObject.Opener opener) {
        this.opener = opener;
    }

    /**
     * Opens a file, which is there.
     *
     * @throws SsgRefusal where the driver does not want it
     */
    public SsgHandle open(Path path, Set<FileOption> options) throws IOException {
        boolean writes = options.contains(FileOption.WRITE);
        HostFile host = host(path, writes);
        Key key = new Key(host.identity(), writes);
        synchronized (this) {
            SsgHandle known = open.get(key);
            if (known != null) {
                host.close();
                known.enter();
                return known;
            }
            SsgHandle handle = SsgHandle.open(opener, host, writes);
            open.put(key, handle);
            return handle;
        }
    }

    /**
     * Opens a file, which is there, as the host does: also for reading, since what is not whole blocks is read before it is
     * merged and written. The disk is not asked to bypass its cache: by this descriptor go lengths only.
     */
    public static HostFile host(Path path, boolean writes) throws IOException {
        Set<FileOption> how = writes ? EnumSet.of(FileOption.READ, FileOption.WRITE) : EnumSet.of(FileOption.READ);
        return HostFile.open(path, how, Limits.LINUX_MAX_BYTES);
    }

    /** Gives back what {@link #open} gave. */
    public void close(SsgHandle handle) {
        synchronized (this) {
            if (!handle.leave()) {
                return;
            }
            open.values().remove(handle);
        }
        handle.close();
    }
}
