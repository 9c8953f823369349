// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.penstock.file.PartFile;
import java.io.IOException;
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

/**
 * The files that a stream has found, in the order in which it found them: an entry for each micro-batch, kept beside the
 * stream's checkpoint. A file is in one entry, so that it is read once, whatever its time and name, also after a restart.
 */
final class FileLog {

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

    /** Writes an entry of those of {@code files} that are in none, at most {@code most} of them, if there are any. */
    void append(List<Path> files, int most) throws IOException {
        List<Path> found =
                files.stream().filter(file -> !known.contains(file)).limit(most).toList();
        if (!found.isEmpty()) {
            Path written = directory.resolve(".new");
            byte[] json =
                    JSON.writeValueAsBytes(found.stream().map(Path::toString).toList());
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
            PartFile.sync(directory);
            add(found);
        }
    }

    /**
     * Throws if there are fewer entries than the checkpoint has read.
     *
     * @throws IllegalStateException in that case: entries that are found anew would be taken for those that were read
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
