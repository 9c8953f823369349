// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.Option;
import io.penstock.spi.OptionProvider;
import java.util.List;

/** The options of {@link PenstockDirectory}. */
public final class LuceneOptions implements OptionProvider {

    private static final Option.Group OPTIONS = new Option.Group();

    /** What a directory does where the system has refused io_uring. */
    public enum Fallback {
        /** Leaves every file to MMapDirectory. */
        MMAP,
        /** Reads and writes by blocking calls on threads. */
        THREADS,
        /** Refuses to open. */
        REFUSE
    }

    /** Which files are read and written past the page cache while a merge has them. */
    public static final Option<String> MERGED = OPTIONS.add(
            Option.text(
                    "penstock.lucene.merged",
                    "*.vec",
                    "which files, by a glob, are read and written past the page cache while a merge has them; where searches read"
                            + " full vectors of a graph, a merged file is cold for them: name the files of quantized fields then"));

    /** Which files are read by announcement. */
    public static final Option<String> ANNOUNCED = OPTIONS.add(Option.text(
            "penstock.lucene.announced",
            "*Quantized*.vec",
            "of which files, by a glob, vectors that a query announces are read in one batch; only of fields with"
                    + " quantization, whose full vectors nothing but rescoring reads"));

    /** Whether served files are read and written through the page cache. */
    public static final Option<Boolean> PAGE_CACHE = OPTIONS.add(Option.flag(
            "penstock.lucene.page-cache",
            false,
            "whether these files are read and written through the page cache, not past it (O_DIRECT)"));

    /** How much a thread may have announced. */
    public static final Option<Long> ANNOUNCED_BYTES = OPTIONS.add(
            Option.bytes(
                    "penstock.lucene.announced-bytes",
                    4L << 20,
                    64L << 10,
                    1L << 30,
                    "how many bytes a thread may have announced and not read; beyond that the oldest announcement is given up"));

    /** How much a merge reads and writes at once. */
    public static final Option<Long> WINDOW_BYTES = OPTIONS.add(Option.bytes(
            "penstock.lucene.window-bytes",
            1L << 20,
            64L << 10,
            64L << 20,
            "the bytes of each read and write of a merge"));

    /** How many windows a merge has in flight for a file. */
    public static final Option<Integer> WINDOWS = OPTIONS.add(Option.integer(
            "penstock.lucene.windows",
            3,
            1,
            64,
            "how many windows a merge reads ahead, or writes behind, for each file"));

    /** What to do without io_uring. */
    public static final Option<Fallback> FALLBACK = OPTIONS.add(Option.choice(
            "penstock.lucene.fallback",
            Fallback.class,
            Fallback.MMAP,
            "what a directory does where the system has refused io_uring: leave all files to MMapDirectory, use blocking"
                    + " calls on threads, or refuse to open"));

    /** For {@link java.util.ServiceLoader}. */
    public LuceneOptions() {}

    @Override
    public List<Option<?>> options() {
        return all();
    }

    /** Returns all options. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
