// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.lucene.PenstockDirectory.Counters;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.lucene.index.CheckIndex;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.RescoreTopNQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSLockFactory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.BytesRef;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The hits and scores of Lucene's own query, in batches; and merges that leave the same index behind. */
@Tag("slow")
class RescoreTest {

    private static final int CANDIDATES = 60;
    private static final int COUNT = 10;

    @TempDir(factory = OnDisk.class)
    Path folder;

    private Backend backend;

    @BeforeEach
    void open() {
        backend = Backends.open("host");
    }

    @AfterEach
    void close() {
        Left.awaitNothing(backend);
        backend.close();
    }

    private PenstockDirectory directory() throws IOException {
        Options options = Options.none()
                .with(LuceneOptions.ANNOUNCED, "*.vec")
                .with(LuceneOptions.WINDOW_BYTES, 64L << 10)
                .with(LuceneOptions.FALLBACK, LuceneOptions.Fallback.THREADS);
        return PenstockDirectory.open(folder, backend, options, FSLockFactory.getDefault());
    }

    static Stream<Arguments> indexes() {
        List<Arguments> all = new ArrayList<>();
        for (VectorIndex.Format format : VectorIndex.Format.values()) {
            for (int segments : new int[] {1, 3, 10}) {
                all.add(Arguments.of(format, segments, false, false, false));
            }
            all.add(Arguments.of(format, 3, true, false, false));
            all.add(Arguments.of(format, 3, false, true, false));
            all.add(Arguments.of(format, 3, true, true, true));
        }
        return all.stream();
    }

    @ParameterizedTest
    @MethodSource("indexes")
    void hitsAndScoresAreLucenesOwn(
            VectorIndex.Format format, int segments, boolean sparse, boolean deletes, boolean compound)
            throws IOException {
        int each = 600 / segments;
        try (Directory plain = new MMapDirectory(folder)) {
            VectorIndex.write(plain, format, segments, each, sparse, compound);
            if (deletes) {
                VectorIndex.delete(plain, format, segments * each);
            }
        }
        try (Directory plain = new MMapDirectory(folder);
                PenstockDirectory served = directory();
                DirectoryReader expected = DirectoryReader.open(plain);
                DirectoryReader reader = DirectoryReader.open(served)) {
            assertThat(reader.leaves()).hasSize(segments);
            Random random = new Random(1);
            for (int i = 0; i < 5; i++) {
                float[] target = VectorIndex.vector(random);
                Query candidates = format == VectorIndex.Format.FLAT
                        ? documents(random, segments * each) // which has no graph to be searched
                        : new KnnFloatVectorQuery(VectorIndex.FIELD, target, CANDIDATES);
                assertThat(search(reader, new PenstockRescoreQuery(candidates, VectorIndex.FIELD, target, COUNT)))
                        .isEqualTo(search(
                                expected,
                                RescoreTopNQuery.createFullPrecisionRescorerQuery(
                                        candidates, target, VectorIndex.FIELD, COUNT)));
            }
            Counters counters = served.counters();
            if (compound) { // whose files have another name
                assertThat(counters.gathers()).isZero();
            } else {
                assertThat(counters.gathered()).isBetween(100L, 300L); // some have no vector
                assertThat(counters.gathers()).isLessThanOrEqualTo(5L * segments * 2);
                assertThat(counters.givenUp()).isZero();
            }
        }
    }

    private static Query documents(Random random, int all) {
        return new TermInSetQuery(
                "id",
                random.ints(0, all)
                        .distinct()
                        .limit(CANDIDATES)
                        .mapToObj(id -> new BytesRef("" + id))
                        .toList());
    }

    /** As text, so that a difference can be read. */
    private static List<String> search(DirectoryReader reader, Query query) throws IOException {
        TopDocs hits = new IndexSearcher(reader).search(query, COUNT);
        List<String> all = new ArrayList<>();
        all.add(hits.totalHits.toString());
        for (ScoreDoc hit : hits.scoreDocs) {
            all.add(hit.doc + " " + hit.score);
        }
        return all;
    }

    @ParameterizedTest
    @EnumSource
    void aMergeLeavesTheSameIndex(VectorIndex.Format format) throws IOException {
        try (Directory plain = new MMapDirectory(folder)) {
            VectorIndex.write(plain, format, 4, 250, true, false);
            VectorIndex.delete(plain, format, 1000);
        }
        try (PenstockDirectory served = directory()) {
            VectorIndex.merge(served, format);
            Counters counters = served.counters();
            long vectors = 4L * 250 * 2 / 3 * VectorIndex.DIMENSION * Float.BYTES;
            assertThat(counters.mergeRead()).isGreaterThan(vectors);
            assertThat(counters.mergeWritten()).isGreaterThan(vectors * 8 / 10);
            try (CheckIndex check = new CheckIndex(served)) {
                assertThat(check.checkIndex().clean).isTrue();
            }
            try (DirectoryReader reader = DirectoryReader.open(served)) {
                assertThat(reader.leaves()).hasSize(1);
                assertThat(reader.numDocs()).isEqualTo(1000 - 143);
            }
        }
    }

    /** The readers of searches, which the merge uses too: it says so by the context of their inputs. */
    @ParameterizedTest
    @EnumSource
    @Timeout(300) // seconds, where others use the processors
    void aMergeBesideSearchesReadsAheadAndChangesNoAnswer(VectorIndex.Format format) throws Exception {
        try (Directory plain = new MMapDirectory(folder)) {
            VectorIndex.write(plain, format, 4, 250, false, false);
        }
        try (PenstockDirectory served = directory();
                IndexWriter writer = VectorIndex.merging(served, format);
                DirectoryReader reader = DirectoryReader.open(writer)) {
            float[] target = VectorIndex.vector(new Random(5));
            Query query = new PenstockRescoreQuery(documents(new Random(6), 1000), VectorIndex.FIELD, target, COUNT);
            List<String> before = search(reader, query);
            CompletableFuture<Void> merge = CompletableFuture.runAsync(() -> {
                try {
                    writer.forceMerge(1);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            do {
                assertThat(search(reader, query)).isEqualTo(before);
            } while (!merge.isDone());
            merge.get();
            assertThat(served.counters().mergeRead()).isGreaterThan(900L * VectorIndex.DIMENSION * Float.BYTES);
            assertThat(served.counters().givenUp()).isZero();
        }
    }

    /** A thread that announces and never reads leaves no more than its bound, and nothing behind a close. */
    @Test
    void announcementsThatAreNotReadAreGivenUp() throws Exception {
        try (Directory plain = new MMapDirectory(folder)) {
            VectorIndex.write(plain, VectorIndex.Format.FULL, 1, 2000, false, false);
        }
        try (PenstockDirectory served = directory();
                DirectoryReader reader = DirectoryReader.open(served)) {
            var values = reader.leaves().get(0).reader().getFloatVectorValues(VectorIndex.FIELD);
            Random random = new Random(2);
            for (int i = 0; i < 10_000; i++) {
                int[] ordinals = random.ints(10, 0, 2000).toArray();
                served.announce(values, ordinals, 10);
                values.copy().vectorValue(ordinals[i % 10]); // what Lucene reads before a time limit stops it
                assertThat(backend.counters().buffers()).isLessThan(500);
                if (i % 2 == 0) {
                    served.forget();
                }
            }
            Thread other = new Thread(() -> {
                try {
                    served.announce(values, new int[] {1, 2, 3}, 3);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            other.start();
            other.join();
        }
    }

    @Test
    void aQueryOfAnotherDirectoryIsAnsweredToo() throws IOException {
        try (Directory plain = new MMapDirectory(folder)) {
            VectorIndex.write(plain, VectorIndex.Format.INT8, 2, 300, false, false);
            try (DirectoryReader reader = DirectoryReader.open(plain)) {
                float[] target = VectorIndex.vector(new Random(3));
                Query all = MatchAllDocsQuery.INSTANCE;
                assertThat(search(reader, new PenstockRescoreQuery(all, VectorIndex.FIELD, target, COUNT)))
                        .isEqualTo(search(
                                reader,
                                RescoreTopNQuery.createFullPrecisionRescorerQuery(
                                        all, target, VectorIndex.FIELD, COUNT)));
            }
        }
    }
}
