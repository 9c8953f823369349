// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.whole;

import io.penstock.Failure;
import io.penstock.Outcome;
import io.penstock.PermanentStorageException;
import io.penstock.engine.host.file.Folder;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One file that is read as a whole: named, opened and sized, placed, read and closed. An object serves one file after
 * the other.
 *
 * <p><b>Threading:</b> the thread of its {@link WholeFiles}; while a call is made for it, the thread of that call.
 */
public final class WholeFile {

    private final int index;
    int fd = -1;

    @Nullable
    FileChannel channel;

    byte @Nullable [] content; // of a file that states no size

    @Nullable
    Folder folder; // while it is being opened from there

    @Nullable
    DeviceMemory memory; // null until it is placed

    long offset;
    long moved;

    private @Nullable Path path;
    private boolean opened;
    private long bytes;
    private String reason = "";
    private @Nullable Exception error;

    /** Creates it; its files are told apart by {@code index}, from 0. */
    public WholeFile(int index) {
        this.index = index;
    }

    /** Returns its index. */
    public int index() {
        return index;
    }

    /** Begins with another file. */
    public void name(Path of) {
        path = of;
        again();
    }

    /** Begins again, with the same file; it is not open. */
    void again() {
        opened = false;
        error = null;
        memory = null;
        content = null;
        reason = "";
        bytes = 0;
        moved = 0;
    }

    public Path path() {
        return Objects.requireNonNull(path);
    }

    /** Returns whether it is known what it is: its size, or an error. */
    public boolean isOpened() {
        return opened;
    }

    /** Returns its size when it was opened. */
    public long bytes() {
        return bytes;
    }

    /** Returns why it was opened by blocking calls; empty if it was not. */
    public String reason() {
        return reason;
    }

    /** Returns why it cannot be read; null if it can, or was. */
    public @Nullable Exception error() {
        return error;
    }

    /** Sets where its bytes go. */
    public void place(DeviceMemory target, long at) {
        memory = target;
        offset = at;
    }

    DeviceMemory memory() {
        return Objects.requireNonNull(memory);
    }

    boolean isPlaced() {
        return memory != null;
    }

    void goesBy(String blockingCalls) {
        reason = blockingCalls;
    }

    void sized(long size) {
        bytes = size;
    }

    /** Ends its opening; on the thread of its {@link WholeFiles}. */
    void opened() {
        opened = true;
    }

    void fail(Exception why) {
        error = why;
    }

    /** Notes why a file is not read that is open no more. */
    public void refuse(Exception why) {
        fail(why);
        opened();
    }

    /** Notes that it cannot be read as a whole because of what it is. */
    void refuseKind(boolean isDirectory) {
        fail(new FileSystemException(path().toString(), null, isDirectory ? "is a directory" : "not a regular file"));
    }

    /** Notes that it has ended before its size. */
    void endedEarly() {
        fail(new PermanentStorageException(
                path() + " became shorter while it was read: it had " + bytes
                        + " bytes when it was opened, and ended at " + moved
                        + "; read it again when nothing cuts it any more",
                new Failure(Outcome.PARTIAL, null, moved),
                null));
    }

    @Override
    public String toString() {
        return String.valueOf(path);
    }
}
