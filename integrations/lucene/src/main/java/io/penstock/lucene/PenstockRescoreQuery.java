// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Objects;
import java.util.Set;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.RescoreTopNQuery;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.Weight;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.util.ArrayUtil;
import org.jspecify.annotations.Nullable;

/**
 * The best documents of another query by the full vectors of a field, as {@link RescoreTopNQuery} computes them, with one
 * batch of reads for all segments; scores are equal but for the last bit, since with {@code jdk.incubator.vector} Lucene
 * sums mapped vectors in another order. Segments of other directories have their vectors prefetched by Lucene's own means.
 */
public final class PenstockRescoreQuery extends Query {

    private final Query candidates;
    private final String field;
    private final float[] target;
    private final int count;

    /**
     * Creates a query.
     *
     * @param candidates finds the documents to be compared, such as a KnnFloatVectorQuery
     * @param field of vectors of floats
     * @param target the vector that the vectors of the field are compared with
     * @param count how many of the documents to keep: at least 1
     */
    public PenstockRescoreQuery(Query candidates, String field, float[] target, int count) {
        if (count < 1) {
            throw new IllegalArgumentException("count must be at least 1, was " + count);
        }
        this.candidates = Objects.requireNonNull(candidates, "candidates");
        this.field = Objects.requireNonNull(field, "field");
        this.target = target.clone();
        this.count = count;
    }

    @Override
    public Query rewrite(IndexSearcher searcher) throws IOException {
        Query found = searcher.rewrite(candidates);
        Set<PenstockDirectory> announced = new HashSet<>();
        try {
            Weight weight = searcher.createWeight(found, ScoreMode.COMPLETE_NO_SCORES, 1);
            for (LeafReaderContext leaf : searcher.getLeafContexts()) {
                Scorer scorer = weight.scorer(leaf);
                FloatVectorValues values = scorer == null ? null : leaf.reader().getFloatVectorValues(field);
                if (scorer != null && values != null) {
                    announce(
                            directory(leaf.reader()),
                            values,
                            ordinals(scorer.iterator(), values.iterator()),
                            announced);
                }
            }
            return RescoreTopNQuery.createFullPrecisionRescorerQuery(found, target, field, count)
                    .rewrite(searcher);
        } finally {
            announced.forEach(PenstockDirectory::forget); // what an exception has left unread
        }
    }

    private static void announce(
            @Nullable PenstockDirectory directory,
            FloatVectorValues values,
            int[] ordinals,
            Set<PenstockDirectory> announced)
            throws IOException {
        if (directory == null) {
            values.copy().prefetch(ordinals, ordinals.length);
        } else {
            announced.add(directory);
            directory.announce(values, ordinals, ordinals.length);
        }
    }

    private static int[] ordinals(DocIdSetIterator documents, KnnVectorValues.DocIndexIterator vectors)
            throws IOException {
        int[] ordinals = new int[64];
        int count = 0;
        for (int document = documents.nextDoc();
                document != DocIdSetIterator.NO_MORE_DOCS;
                document = documents.nextDoc()) {
            if (vectors.docID() < document && vectors.advance(document) == DocIdSetIterator.NO_MORE_DOCS) {
                break;
            }
            if (vectors.docID() == document) {
                ordinals = ArrayUtil.grow(ordinals, count + 1);
                ordinals[count++] = vectors.index();
            }
        }
        return Arrays.copyOf(ordinals, count);
    }

    private static @Nullable PenstockDirectory directory(LeafReader reader) {
        if (!(FilterLeafReader.unwrap(reader) instanceof SegmentReader segment)) {
            return null;
        }
        Directory directory = FilterDirectory.unwrap(segment.directory());
        return directory instanceof PenstockDirectory penstock ? penstock : null;
    }

    @Override
    public String toString(String of) {
        return "PenstockRescoreQuery:" + candidates.toString(of) + ":" + field + "[" + count + "]";
    }

    @Override
    public void visit(QueryVisitor visitor) {
        candidates.visit(visitor);
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof PenstockRescoreQuery that
                && candidates.equals(that.candidates)
                && field.equals(that.field)
                && Arrays.equals(target, that.target)
                && count == that.count;
    }

    @Override
    public int hashCode() {
        return Objects.hash(candidates, field, Arrays.hashCode(target), count);
    }
}
