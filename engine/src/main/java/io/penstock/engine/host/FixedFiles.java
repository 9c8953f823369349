// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import org.jspecify.annotations.Nullable;

/**
 * One ring's table of files: a file that is used often gets the slot of its {@link LinuxFile#index()}.
 *
 * <p><b>Threading:</b> the lane only. The file itself clears its slots when it is closed, and gives up its index only
 * after that; so what stands here for a closed file is never used again, and replaced by the next of that index.
 */
final class FixedFiles {
    private static final int SLOTS = 1024;
    private static final int NONE = -1;
    // Registering costs two system calls; files that are read once and closed are not worth them.
    private static final int USES_BEFORE = 8;
    private static final int REGISTERED = USES_BEFORE + 1;

    private final RingRegistration registration;
    private final @Nullable LinuxFile[] files;
    private final int[] uses;
    private boolean refused;

    FixedFiles(RingRegistration registration, boolean enabled) {
        this.registration = registration;
        refused = !enabled || registration.makeFileTable(SLOTS) < 0;
        files = new LinuxFile[refused ? 0 : SLOTS];
        uses = new int[files.length];
    }

    /** Returns the slot of a file, or -1 if it is to be used by its descriptor. */
    int slot(LinuxFile file) {
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
