// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import java.io.IOException;
import java.util.Random;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104HnswScalarQuantizedVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.quantization.QuantizedByteVectorValues.ScalarEncoding;

/** An index of random vectors in as many segments as a test wants. */
final class VectorIndex {

    static final String FIELD = "vector";
    static final int DIMENSION = Integer.getInteger("dimension", 192);

    /** How vectors are stored. */
    @SuppressWarnings("ImmutableEnumChecker") // Lucene's classes, which are
    enum Format {
        FLAT(new FlatVectors()),
        FULL(new Lucene99HnswVectorsFormat(16, 100)),
        INT8(new Lucene104HnswScalarQuantizedVectorsFormat(ScalarEncoding.SEVEN_BIT, 16, 100)),
        INT4(new Lucene104HnswScalarQuantizedVectorsFormat(ScalarEncoding.PACKED_NIBBLE, 16, 100)),
        ONE_BIT(new Lucene104HnswScalarQuantizedVectorsFormat(ScalarEncoding.SINGLE_BIT_QUERY_NIBBLE, 16, 100));

        private final KnnVectorsFormat vectors;

        Format(KnnVectorsFormat vectors) {
            this.vectors = vectors;
        }
    }

    private VectorIndex() {}

    /**
     * Writes segments of {@code each} documents.
     *
     * @param sparse whether every third document has no vector
     * @param compound whether the files of a segment are one
     */
    static void write(Directory directory, Format format, int segments, int each, boolean sparse, boolean compound)
            throws IOException {
        Random random = new Random(49);
        IndexWriterConfig config =
                config(format).setMergePolicy(NoMergePolicy.INSTANCE).setUseCompoundFile(compound);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int i = 0; i < segments * each; i++) {
                Document document = new Document();
                document.add(new StringField("id", "" + i, Field.Store.YES));
                if (!sparse || i % 3 != 0) {
                    document.add(new KnnFloatVectorField(FIELD, vector(random), VectorSimilarityFunction.EUCLIDEAN));
                }
                writer.addDocument(document);
                if ((i + 1) % each == 0) {
                    writer.flush();
                }
            }
            writer.commit();
        }
    }

    /** Deletes every seventh document. */
    static void delete(Directory directory, Format format, int documents) throws IOException {
        IndexWriterConfig config = config(format).setMergePolicy(NoMergePolicy.INSTANCE);
        try (IndexWriter writer = new IndexWriter(directory, config)) {
            for (int i = 0; i < documents; i += 7) {
                writer.deleteDocuments(new Term("id", "" + i));
            }
        }
    }

    /** Merges all segments to one. */
    static void merge(Directory directory, Format format) throws IOException {
        try (IndexWriter writer = merging(directory, format)) {
            writer.forceMerge(1);
        }
    }

    /** Returns a writer whose merges run on the thread that asks for them, and make no compound file. */
    static IndexWriter merging(Directory directory, Format format) throws IOException {
        TieredMergePolicy policy = new TieredMergePolicy();
        policy.setNoCFSRatio(0);
        return new IndexWriter(
                directory, config(format).setMergePolicy(policy).setMergeScheduler(new SerialMergeScheduler()));
    }

    static float[] vector(Random random) {
        float[] vector = new float[DIMENSION];
        for (int i = 0; i < DIMENSION; i++) {
            vector[i] = random.nextFloat() - 0.5f;
        }
        return vector;
    }

    private static IndexWriterConfig config(Format format) {
        Codec stock = Codec.getDefault();
        // By the name of the stock codec, whose reader finds the format of each field by the field's attributes.
        return new IndexWriterConfig().setCodec(new FilterCodec(stock.getName(), stock) {
            private final KnnVectorsFormat perField = new org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat() {
                @Override
                public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
                    return format.vectors;
                }
            };

            @Override
            public KnnVectorsFormat knnVectorsFormat() {
                return perField;
            }
        });
    }
}
