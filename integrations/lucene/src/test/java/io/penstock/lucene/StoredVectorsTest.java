// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.List;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.store.MMapDirectory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The places of vectors in files hold what Lucene reads. */
class StoredVectorsTest {

    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({
        "FULL, 2, false, false",
        "FULL, 1, true, false",
        "FULL, 1, false, true",
        "FLAT, 1, false, false",
        "INT8, 2, true, false",
        "INT4, 1, false, false",
        "ONE_BIT, 1, false, false",
    })
    void aMatrixHasTheVectorsByTheirOrdinals(VectorIndex.Format format, int segments, boolean sparse, boolean compound)
            throws IOException {
        try (MMapDirectory directory = new MMapDirectory(folder)) {
            VectorIndex.write(directory, format, segments, 50, sparse, compound);
            List<StoredVectors> matrices = StoredVectors.of(folder, VectorIndex.FIELD);
            assertThat(matrices).hasSize(segments);
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
                for (LeafReaderContext leaf : reader.leaves()) {
                    compare(leaf.reader().getFloatVectorValues(VectorIndex.FIELD), matrices.get(leaf.ord));
                }
            }
        }
    }

    private static void compare(FloatVectorValues values, StoredVectors matrix) throws IOException {
        assertThat(matrix.rows()).isEqualTo(values.size());
        assertThat(matrix.columns()).isEqualTo(values.dimension());
        int rowBytes = matrix.columns() * Float.BYTES;
        ByteBuffer row = ByteBuffer.allocate(rowBytes).order(ByteOrder.LITTLE_ENDIAN);
        float[] floats = new float[matrix.columns()];
        try (FileChannel channel = FileChannel.open(matrix.file())) {
            for (int i = 0; i < values.size(); i++) {
                channel.read(row.clear(), matrix.offset() + (long) i * rowBytes);
                row.flip().asFloatBuffer().get(floats);
                assertThat(floats).containsExactly(values.vectorValue(i));
            }
        }
    }

    @Test
    void aFieldWithoutVectorsHasNone() throws IOException {
        try (MMapDirectory directory = new MMapDirectory(folder)) {
            VectorIndex.write(directory, VectorIndex.Format.FULL, 1, 5, false, false);
        }
        assertThat(StoredVectors.of(folder, "id")).isEmpty();
        assertThat(StoredVectors.of(folder, "none")).isEmpty();
        assertThatThrownBy(() -> StoredVectors.of(folder.resolve("no index"), "vector"))
                .isInstanceOf(IOException.class);
    }
}
