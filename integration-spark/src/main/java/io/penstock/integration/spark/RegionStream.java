// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** The files of a growing directory, those of a micro-batch as a scan of their own. */
final class RegionStream implements MicroBatchStream {

    private final RegionScan scan;
    private final SourceOptions options;
    private final FileLog log;

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
    public synchronized Offset latestOffset() {
        try {
            log.append(Listing.of(options), options.maxFilesPerTrigger());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new BatchOffset(log.size());
    }

    @Override
    public synchronized InputPartition[] planInputPartitions(Offset start, Offset end) {
        return scan.plan(scan.regions(log.files(((BatchOffset) start).entries(), ((BatchOffset) end).entries())));
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
}
