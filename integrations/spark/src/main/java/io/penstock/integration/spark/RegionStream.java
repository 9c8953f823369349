// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.penstock.file.DirectorySync;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxFiles;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.internal.SQLConf;
import org.jspecify.annotations.Nullable;

/** The files of a growing directory, the files of a micro-batch as a scan of their own. */
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

    /**
     * The files that a stream has found, in the order in which it found them: an entry for each micro-batch, kept beside
     * the stream's checkpoint. A file is in one entry, so that it is read once, whatever its time and name, also after a
     * restart.
     */
    private static final class FileLog {

        private static final ObjectMapper JSON = new ObjectMapper();

        private final Path directory;
        private final List<List<Path>> entries = new ArrayList<>();
        private final Set<Path> known = new HashSet<>();

        /** Reads the entries that are there. */
        FileLog(Path directory) throws IOException {
            this.directory = Files.createDirectories(directory);
            for (Path entry = entry(1); Files.exists(entry); entry = entry(entries.size() + 1)) {
                add(Arrays.stream(JSON.readValue(entry.toFile(), String[].class))
                        .map(Path::of)
                        .toList());
            }
        }

        private Path entry(int number) {
            return directory.resolve(Integer.toString(number));
        }

        private void add(List<Path> files) {
            entries.add(files);
            known.addAll(files);
        }

        int size() {
            return entries.size();
        }

        /** Writes an entry of {@code files} that are in no entry, at most {@code most}, if there are any. */
        void append(List<Path> files, int most) throws IOException {
            List<Path> found = files.stream()
                    .filter(file -> !known.contains(file))
                    .limit(most)
                    .toList();
            if (!found.isEmpty()) {
                Path written = directory.resolve(".new");
                byte[] json = JSON.writeValueAsBytes(
                        found.stream().map(Path::toString).toList());
                try (FileChannel file = FileChannel.open(
                        written,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.TRUNCATE_EXISTING,
                        StandardOpenOption.WRITE)) {
                    for (ByteBuffer rest = ByteBuffer.wrap(json); rest.hasRemaining(); ) {
                        file.write(rest);
                    }
                    file.force(true); // else a crash may leave the name of an entry that is empty
                }
                Files.move(written, entry(entries.size() + 1), StandardCopyOption.ATOMIC_MOVE);
                DirectorySync.force(directory);
                add(found);
            }
        }

        /**
         * Throws if there are fewer entries than the checkpoint has read.
         *
         * @throws IllegalStateException in that case: entries that are found anew would count as read
         */
        void checkHas(int read) {
            if (read > entries.size()) {
                throw new IllegalStateException("the checkpoint has read " + read + " entries of " + directory
                        + ", which has " + entries.size() + ": files of the checkpoint were deleted");
            }
        }

        /** Returns the files of the entries from {@code start} until {@code end}, counted from 0. */
        List<Path> files(int start, int end) {
            checkHas(end);
            return entries.subList(start, end).stream().flatMap(List::stream).toList();
        }
    }
}
