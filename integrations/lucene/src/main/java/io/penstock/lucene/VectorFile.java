// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.StorageFile;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A file of an index, as all inputs over it share it.
 *
 * <p><b>Ownership:</b> belongs to the input that opened it; its close closes what clones and slices read ahead.
 */
final class VectorFile implements AutoCloseable {

    final PenstockDirectory directory;
    final StorageFile file;
    final long length; // files of an index do not change
    final int block; // what reads are rounded to
    final boolean announced; // whether announcements are taken
    final boolean merged; // whether what takes all in order is read ahead
    private final Set<ReadAhead> readers = ConcurrentHashMap.newKeySet();
    final boolean ofMerge; // opened by a merge, for itself
    volatile boolean closed;

    private VectorFile(
            PenstockDirectory directory, StorageFile file, boolean announced, boolean merged, boolean ofMerge) {
        this.directory = directory;
        this.file = file;
        this.length = file.size();
        this.block = (int) Math.max(512, file.blockSize());
        this.announced = announced;
        this.merged = merged;
        this.ofMerge = ofMerge;
    }

    /** Takes over the file, also if that throws. */
    static VectorFile of(
            PenstockDirectory directory, StorageFile file, boolean announced, boolean merged, boolean ofMerge) {
        try {
            return new VectorFile(directory, file, announced, merged, ofMerge);
        } catch (RuntimeException e) { // its length is not known
            file.close();
            throw e;
        }
    }

    ReadAhead readAhead(long end) {
        ReadAhead reader = new ReadAhead(this, end);
        readers.add(reader);
        if (closed) {
            reader.close();
        }
        return reader;
    }

    void leave(ReadAhead reader) {
        readers.remove(reader);
        reader.close();
    }

    @Override
    public void close() {
        closed = true; // before the readers: one that comes now closes itself
        readers.forEach(ReadAhead::close);
        file.close();
    }

    @Override
    public String toString() {
        return file.path().toString();
    }
}
