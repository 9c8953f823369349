// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxFiles;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.internal.SQLConf;
import org.jspecify.annotations.Nullable;

/** The files of a growing directory, those of a micro-batch as a scan of their own. */
final class RegionStream implements MicroBatchStream, SupportsTriggerAvailableNow {

    private final RegionScan scan;
    private final SourceOptions options;
    private final FileLog log;
    private @Nullable List<Path> available;

    RegionStream(RegionScan scan, SourceOptions options, String checkpoint) {
        this.scan = scan;
        this.options = options;
        try {
            log = new FileLog(SourceOptions.local(checkpoint).resolve("files"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Offset initialOffset() {
        return new BatchOffset(0);
    }

    @Override
    public ReadLimit getDefaultReadLimit() {
        return ReadLimit.maxFiles(options.maxFilesPerTrigger());
    }

    /** Of {@code Trigger.AvailableNow}: the files that are there now are read in batches, and no others. */
    @Override
    public synchronized void prepareForTriggerAvailableNow() {
        available = files();
    }

    @Override
    public synchronized Offset latestOffset(Offset start, ReadLimit limit) {
        int read = ((BatchOffset) start).entries();
        log.checkHas(read);
        if (read < log.size()) { // listed before a crash, and in no batch yet
            return new BatchOffset(read + 1);
        }
        int most = limit instanceof ReadMaxFiles files ? files.maxFiles() : Integer.MAX_VALUE;
        try {
            log.append(available == null ? files() : available, most);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new BatchOffset(log.size());
    }

    @Override
    public Offset latestOffset() {
        throw new UnsupportedOperationException("Spark calls latestOffset(Offset, ReadLimit)");
    }

    private List<Path> files() {
        try {
            return Listing.of(options);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public synchronized InputPartition[] planInputPartitions(Offset start, Offset end) {
        List<Path> files = log.files(((BatchOffset) start).entries(), ((BatchOffset) end).entries());
        if (SQLConf.get().ignoreMissingFiles()) { // as Spark's own sources do
            files = files.stream().filter(Files::exists).toList();
        }
        try {
            return scan.plan(scan.find(files));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
        return scan.createReaderFactory();
    }

    @Override
    public Offset deserializeOffset(String json) {
        return BatchOffset.parse(json);
    }

    @Override
    public void commit(Offset end) {
        // The log is the checkpoint.
    }

    @Override
    public void stop() {
        // Nothing is open between two batches.
    }

    /** How many entries of a {@link FileLog} have been read. */
    private static final class BatchOffset extends Offset {

        private final int entries;

        BatchOffset(int entries) {
            this.entries = entries;
        }

        static BatchOffset parse(String json) {
            return new BatchOffset(Integer.parseInt(json.strip()));
        }

        int entries() {
            return entries;
        }

        @Override
        public String json() {
            return Integer.toString(entries);
        }
    }
}
