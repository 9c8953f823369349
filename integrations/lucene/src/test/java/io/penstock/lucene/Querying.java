// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BooleanSupplier;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.ConstantScoreScorer;
import org.apache.lucene.search.ConstantScoreWeight;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.RescoreTopNQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.FixedBitSet;

/** What a thread of {@link LuceneBench} does that queries; keeps the time and the hits of each query. */
final class Querying implements Runnable {

    static final int CANDIDATES = 100;
    static final int COUNT = 10;

    private final IndexSearcher searcher;
    private final int documents;
    private final boolean announces;
    private final Random random;
    private final BooleanSupplier ended; // asked behind each query
    private final List<Long> nanos = new ArrayList<>();
    private final StringBuilder answer = new StringBuilder();

    Querying(DirectoryReader reader, boolean announces, int seed, BooleanSupplier ended) {
        this.searcher = new IndexSearcher(reader);
        this.documents = reader.maxDoc();
        this.announces = announces;
        this.random = new Random(seed);
        this.ended = ended;
    }

    @Override
    public void run() {
        try {
            do {
                query();
            } while (!ended.getAsBoolean());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void query() throws IOException {
        float[] target = VectorIndex.vector(random);
        Query candidates = new Found(random.ints(CANDIDATES, 0, documents).toArray());
        Query query = announces
                ? new PenstockRescoreQuery(candidates, VectorIndex.FIELD, target, COUNT)
                : RescoreTopNQuery.createFullPrecisionRescorerQuery(candidates, target, VectorIndex.FIELD, COUNT);
        long start = System.nanoTime();
        for (ScoreDoc hit : searcher.search(query, COUNT).scoreDocs) {
            answer.append(hit.doc).append(' ').append((int) (hit.score * 1e4)).append(' ');
        }
        nanos.add(System.nanoTime() - start);
    }

    /** Returns the hits of all queries, with their scores. */
    String answer() {
        return answer.toString();
    }

    /** Returns the time of each query. */
    double[] nanos() {
        return nanos.stream().mapToDouble(Long::doubleValue).toArray();
    }

    /** Documents that are known, as the documents of a graph's search are once it has ended. */
    private static final class Found extends Query {

        private final int[] documents;

        Found(int[] documents) {
            this.documents = documents;
        }

        @Override
        public Weight createWeight(IndexSearcher searcher, ScoreMode mode, float boost) {
            return new ConstantScoreWeight(this, boost) {
                @Override
                public ScorerSupplier scorerSupplier(LeafReaderContext leaf) {
                    FixedBitSet own = new FixedBitSet(leaf.reader().maxDoc());
                    for (int document : documents) {
                        if (document >= leaf.docBase && document < leaf.docBase + own.length()) {
                            own.set(document - leaf.docBase);
                        }
                    }
                    return new DefaultScorerSupplier(
                            new ConstantScoreScorer(score(), mode, new BitSetIterator(own, documents.length)));
                }

                @Override
                public boolean isCacheable(LeafReaderContext leaf) {
                    return false;
                }
            };
        }

        @Override
        public String toString(String field) {
            return "found";
        }

        @Override
        public void visit(QueryVisitor visitor) {}

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }
}
