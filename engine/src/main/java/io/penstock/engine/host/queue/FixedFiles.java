// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.host.uring.RingRegistration;
import org.jspecify.annotations.Nullable;

/**
 * One ring's table of files: a file that is used often is registered at its {@link LinuxFile#index()}.
 *
 * <p><b>Threading:</b> the I/O queue only. The file clears its table entries when it is closed, and frees its index
 * only after that; so the entry of a closed file is never used again, and is replaced by the next file of that index.
 */
final class FixedFiles {
    private static final int BUFFERS = 1024;
    private static final int NONE = -1;
    // Registering costs two system calls, which do not pay off for files that are read once and closed.
    private static final int USES_BEFORE = 8;
    private static final int REGISTERED = USES_BEFORE + 1;

    private final RingRegistration registration;
    private final @Nullable LinuxFile[] files;
    private final int[] uses;
    private boolean refused;

    FixedFiles(RingRegistration registration, boolean enabled) {
        this.registration = registration;
        refused = !enabled || registration.makeFileTable(BUFFERS) < 0;
        files = new LinuxFile[refused ? 0 : BUFFERS];
        uses = new int[files.length];
    }

    /** Returns the index of a file, or -1 if it is not registered and is used by descriptor. */
    int index(LinuxFile file) {
        int index = file.index();
        if (index >= files.length) {
            return NONE;
        }
        if (files[index] != file) {
            files[index] = file;
            uses[index] = 0;
        }
        if (uses[index] == REGISTERED) {
            return index;
        }
        if (refused || ++uses[index] < USES_BEFORE) {
            return NONE;
        }
        if (!file.register(registration)) {
            refused = true;
            return NONE;
        }
        uses[index] = REGISTERED;
        return index;
    }
}
