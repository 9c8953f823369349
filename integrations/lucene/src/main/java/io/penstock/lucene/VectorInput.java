// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.ClosedException;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.FilterIndexInput;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.RandomAccessInput;
import org.jspecify.annotations.Nullable;

/**
 * A mapped input that takes some of its bytes from Penstock: announced ones, and, while a merge has the file, the bytes
 * that one of its readers takes in order. Everything else is read from the mapping: a read that waits for a transfer of
 * its own costs more than a page fault.
 *
 * <p>Clones and slices are never closed, so they own memory of the heap alone; what they read ahead belongs to the file,
 * and to a cleaner.
 */
final class VectorInput extends FilterIndexInput {

    /** Reads that follow each other until a reader counts as one that takes all in order. */
    private static final int IN_ORDER = 2;

    private static final int SURELY_IN_ORDER = 8; // where no merge is known
    private static final int LEFT_OUT = 4; // as many reads as long may be left out then

    private static final Cleaner CLEANER = Cleaner.create();

    private final VectorFile file;
    private final long base; // of this input in the file
    private final boolean owner;
    private long expected = -1; // where the last long read has ended
    private int inOrder; // long reads that began there, or soon behind: deleted documents are skipped
    private @Nullable ReadAhead ahead;

    private VectorInput(IndexInput mapped, VectorFile file, long base, boolean owner) {
        super(mapped.toString(), mapped);
        this.file = file;
        this.base = base;
        this.owner = owner;
    }

    /** Takes over both. */
    static VectorInput open(IndexInput mapped, VectorFile file) {
        return new VectorInput(mapped, file, 0, true);
    }

    /** Static, so that the cleaner does not refer to the input. */
    private static void clean(VectorInput input, VectorFile file, ReadAhead reader) {
        CLEANER.register(input, () -> file.leave(reader));
    }

    @Override
    public void prefetch(long offset, long bytes) throws IOException {
        if (!file.announced || bytes < Announcements.LEAST || bytes > Announcements.MOST || offset > length() - bytes) {
            in.prefetch(offset, bytes);
        } else {
            file.directory.announcements().add(file, base + offset, (int) bytes);
        }
    }

    @Override
    public void readBytes(byte[] to, int offset, int count) throws IOException {
        if (!serve(ByteBuffer.wrap(to, offset, count))) {
            in.readBytes(to, offset, count);
        }
    }

    @Override
    public void readFloats(float[] to, int offset, int count) throws IOException {
        if (count < Announcements.LEAST / Float.BYTES || count > Announcements.MOST) {
            in.readFloats(to, offset, count);
            return;
        }
        ByteBuffer scratch = file.directory.announcements().scratch(count * Float.BYTES);
        if (serve(scratch)) {
            scratch.flip().asFloatBuffer().get(to, offset, count);
        } else {
            in.readFloats(to, offset, count);
        }
    }

    /** Fills {@code target} and moves the position, or returns false and does neither. */
    private boolean serve(ByteBuffer target) throws IOException {
        long position = in.getFilePointer();
        int count = target.remaining();
        if (count < Announcements.LEAST || count > length() - position || file.closed) {
            return false; // the mapping knows what to throw
        }
        try {
            if (!announced(base + position, target) && !ahead(base + position, target)) {
                return false;
            }
        } catch (ClosedException e) {
            throw new AlreadyClosedException("already closed: " + this, e);
        }
        in.seek(position + count);
        return true;
    }

    private boolean announced(long from, ByteBuffer target) throws IOException {
        if (!file.announced) {
            return false;
        }
        Announcements mine = file.directory.announcements();
        if (mine.records(file, from, target.remaining())) {
            target.position(target.limit());
            return true;
        }
        return mine.read(file, from, target);
    }

    /**
     * Reads ahead for a reader that takes all in order, but for deleted documents. Where the merge has not opened the
     * file itself, only for one that leaves nearly nothing out: queries read the same input. What Lucene tells an input of
     * a merge is of no use then: 10.6 does not tell the full vectors of a field with quantization.
     */
    private boolean ahead(long from, ByteBuffer target) throws IOException {
        if (!file.merged) {
            return false;
        }
        int count = target.remaining();
        long left = file.ofMerge ? file.directory.windowBytes : LEFT_OUT * (long) count;
        boolean follows = expected >= 0 && from >= expected && from - expected <= left;
        expected = from + count;
        inOrder = follows ? inOrder + 1 : 0;
        if (inOrder < (file.ofMerge ? IN_ORDER : SURELY_IN_ORDER)) {
            if (file.announced) {
                file.directory.unannounced.increment();
            }
            return false;
        }
        ReadAhead reader = ahead;
        if (reader == null) {
            reader = file.readAhead(base + length());
            ahead = reader;
            clean(this, file, reader);
        }
        return reader.read(from, target);
    }

    static boolean isMerge(IOContext context) {
        return context.context() == IOContext.Context.MERGE;
    }

    @Override
    public VectorInput clone() {
        return new VectorInput(in.clone(), file, base, false);
    }

    @Override
    public VectorInput slice(String description, long offset, long bytes) throws IOException {
        return new VectorInput(in.slice(description, offset, bytes), file, base + offset, false);
    }

    @Override
    public RandomAccessInput randomAccessSlice(long offset, long bytes) throws IOException {
        return in.randomAccessSlice(offset, bytes);
    }

    @Override
    public void close() throws IOException {
        try (in) {
            if (owner) {
                file.close();
            } else if (ahead != null) {
                file.leave(ahead);
            }
        }
    }
}
