// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.FilterIndexInput;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MMapDirectory;

/**
 * Where the full vectors of a field lie in a segment: one matrix of little-endian floats, whose rows are the vectors by
 * their ordinals, deleted documents included.
 *
 * @param file a file of the index: its {@code .vec}, or a compound file
 * @param offset where the matrix starts
 */
public record StoredVectors(Path file, long offset, long rows, int columns) {

    /** An input that notes where floats were read last. */
    private static final class Noting extends FilterIndexInput {

        private final StoredVectors[] last;
        private final Path file;
        private final long base; // of this input in the file

        Noting(IndexInput in, StoredVectors[] last, Path file, long base) {
            super(in.toString(), in);
            this.last = last;
            this.file = file;
            this.base = base;
        }

        @Override
        public void readFloats(float[] to, int offset, int count) throws IOException {
            last[0] = new StoredVectors(file, base + getFilePointer(), 0, 0);
            in.readFloats(to, offset, count);
        }

        @Override
        public Noting clone() {
            return new Noting(in.clone(), last, file, base);
        }

        @Override
        public Noting slice(String description, long offset, long bytes) throws IOException {
            return new Noting(in.slice(description, offset, bytes), last, file, base + offset);
        }
    }

    /**
     * Returns the matrices of a field of floats, of each segment that has vectors of it: Lucene itself reads the first
     * and the last vector of each.
     *
     * @throws IOException also if there is no index, or the vectors of a segment do not lie side by side
     */
    public static List<StoredVectors> of(Path index, String field) throws IOException {
        StoredVectors[] last = new StoredVectors[1];
        List<StoredVectors> all = new ArrayList<>();
        try (FilterDirectory noting = new FilterDirectory(new MMapDirectory(index)) {
                    @Override
                    public IndexInput openInput(String name, IOContext context) throws IOException {
                        return new Noting(in.openInput(name, context), last, index.resolve(name), 0);
                    }
                };
                DirectoryReader reader = DirectoryReader.open(noting)) {
            for (LeafReaderContext leaf : reader.leaves()) {
                FloatVectorValues values = leaf.reader().getFloatVectorValues(field);
                if (values != null && values.size() > 0) {
                    all.add(matrix(values, last));
                }
            }
        }
        return all;
    }

    private static StoredVectors matrix(FloatVectorValues values, StoredVectors[] last) throws IOException {
        values.vectorValue(values.size() - 1);
        StoredVectors end = last[0];
        values.vectorValue(0); // of one vector it is kept
        StoredVectors start = last[0];
        long between = (values.size() - 1L) * values.dimension() * Float.BYTES;
        if (!start.file.equals(end.file) || end.offset - start.offset != between) {
            throw new IOException("the " + values.size() + " vectors from " + start + " to " + end + " have gaps");
        }
        return new StoredVectors(start.file, start.offset, values.size(), values.dimension());
    }
}
