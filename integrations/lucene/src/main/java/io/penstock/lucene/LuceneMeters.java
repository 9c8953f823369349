// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.penstock.lucene.PenstockDirectory.Counters;
import java.util.function.ToLongFunction;

/**
 * {@link PenstockDirectory#counters()} as meters named {@code penstock.lucene.*}, with the tag {@code index}; requires
 * micrometer-core on the class path. A registry keeps the first directory of a name.
 */
public final class LuceneMeters implements MeterBinder {

    private final PenstockDirectory directory;
    private final Tags tags;

    /**
     * Creates meters of a directory, which they keep reachable.
     *
     * @param index the value of the tag
     */
    public LuceneMeters(PenstockDirectory directory, String index) {
        this.directory = directory;
        this.tags = Tags.of("index", index);
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        count(registry, "gathers", "batches", Counters::gathers, "Batches of announced vectors that were read");
        count(registry, "gathered", "vectors", Counters::gathered, "Vectors in these batches");
        count(registry, "given.up", "vectors", Counters::givenUp, "Announced vectors that were never read");
        count(registry, "unannounced", "vectors", Counters::unannounced, "Vectors that were read unannounced");
        count(registry, "merge.read", "bytes", Counters::mergeRead, "Bytes that merges have requested");
        count(registry, "merge.written", "bytes", Counters::mergeWritten, "Bytes that merges have written");
        count(registry, "refused", "files", Counters::refused, "Files that were left to MMapDirectory");
    }

    private void count(MeterRegistry registry, String name, String unit, ToLongFunction<Counters> value, String what) {
        FunctionCounter.builder("penstock.lucene." + name, directory, of -> value.applyAsLong(of.counters()))
                .description(what)
                .baseUnit(unit)
                .tags(tags)
                .register(registry);
    }
}
