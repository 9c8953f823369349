// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.whole;

import io.penstock.engine.host.file.Folder;
import io.penstock.engine.host.kernel.FileCalls;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The folders that files were opened from last, kept open for some files more: a folder's name may be another folder's
 * by then. One thread.
 */
final class Folders implements AutoCloseable {

    private static final int MOST = 32;
    private static final int MOST_FILES = 1024;

    private final FileCalls calls;
    private final Map<ByteBuffer, Folder> open = new HashMap<>();
    private @Nullable Folder last;
    private int files; // since all were closed

    Folders(FileCalls calls) {
        this.calls = calls;
    }

    /** Returns the folder of a file, whose name ends at {@code end}. Blocks if it is not open. */
    Folder of(byte[] path, int end) {
        if (files++ == MOST_FILES || open.size() > MOST) {
            close();
        }
        Folder known = last;
        if (known == null || !known.has(path, end)) {
            known = open.computeIfAbsent(ByteBuffer.wrap(path, 0, end), name -> Folder.open(calls, path, end));
            last = known;
        }
        return known;
    }

    /** Closes all, each when it is in use no more. */
    @Override
    public void close() {
        open.values().forEach(Folder::close);
        open.clear();
        last = null;
        files = 0;
    }
}
