// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.FileOption;
import io.penstock.Transfer;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.apache.hadoop.fs.FileUtil;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Writes the rows of one attempt of a task into a folder of its own. A file is durable when its row has been written.
 *
 * <p>It waits for no bytes in flight: the source of its rows, in the same task, may hold all of them until the next row
 * is taken. It takes four chunks of 256 KiB, and a task has one.
 */
final class FileWriter implements DataWriter<InternalRow> {

    private static final FileOption[] NEW_FILE = {FileOption.WRITE, FileOption.CREATE_NEW};
    private static final int CREATIONS = 10; // of directories
    private static final int PARENTS = 2; // of the folder, which belong to the write

    private final Path folder;
    private final int nameColumn;
    private final int contentColumn;
    private final Column content;
    private final Set<String> names = new LinkedHashSet<>();
    private final ExecutorBackend.Lease lease = ExecutorBackend.lease();

    /**
     * A writer of rows.
     *
     * @param content BYTES or HANDLE
     */
    FileWriter(Path folder, int nameColumn, int contentColumn, Column content) {
        this.folder = folder;
        this.nameColumn = nameColumn;
        this.contentColumn = contentColumn;
        this.content = content;
    }

    /**
     * What an attempt has written.
     *
     * @param folder where the files are
     * @param names their names, which may have folders
     */
    record Written(String folder, List<String> names) implements WriterCommitMessage {}

    @Override
    public void write(InternalRow row) throws IOException {
        if (row.isNullAt(nameColumn) || row.isNullAt(contentColumn)) {
            throw new IllegalArgumentException(
                    "columns name and " + content.label() + " of a row to be written must not be null");
        }
        String name = row.getUTF8String(nameColumn).toString();
        Path file = folder.resolve(name).normalize();
        if (file.equals(folder) || !file.startsWith(folder)) {
            throw new IllegalArgumentException("name must be the name of a file below the directory, was " + name);
        }
        if (folder.relativize(file).startsWith(FileWrite.TEMPORARY)) {
            throw new IllegalArgumentException(
                    "name must not be in " + FileWrite.TEMPORARY + ", the folder of the tasks, was " + name);
        }
        if (!names.add(folder.relativize(file).toString())) {
            throw new FileAlreadyExistsException(name, null, "two rows have this name");
        }
        createDirectories(Objects.requireNonNull(file.getParent()));
        try {
            lease.host().blocking().await(content == Column.HANDLE ? deviceMemory(row, file) : heap(row, file));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw (IOException) new InterruptedIOException("writing " + name + " was interrupted").initCause(e);
        }
    }

    private Mono<Void> heap(InternalRow row, Path file) {
        return lease.host()
                .write(file, Flux.just(ByteBuffer.wrap(row.getBinary(contentColumn))))
                .then();
    }

    /** Writes the memory that a row names: from the device to the file. */
    private Mono<Void> deviceMemory(InternalRow row, Path file) {
        DeviceMemory memory = DeviceMemory.of(row.getLong(contentColumn));
        long length = memory.region().length();
        return memory.backend()
                .withFile(
                        file,
                        NEW_FILE,
                        open -> length == 0
                                ? open.sync()
                                : memory.backend()
                                        .submit(Transfer.write(memory.region(), open.region(0, length)))
                                        .then(open.sync()));
    }

    /** Creates directories, whose parents another attempt may remove at the same moment, when it is aborted. */
    private static void createDirectories(Path directory) throws IOException {
        for (int i = 1; i < CREATIONS; i++) {
            try {
                Files.createDirectories(directory);
                return;
            } catch (NoSuchFileException removed) {
                // again
            }
        }
        Files.createDirectories(directory);
    }

    @Override
    public WriterCommitMessage commit() {
        return new Written(folder.toString(), List.copyOf(names));
    }

    @Override
    public void abort() throws IOException {
        if (!FileUtil.fullyDelete(folder.toFile()) && Files.exists(folder)) {
            throw new FileSystemException(folder.toString(), null, "it cannot be removed");
        }
        // The driver may have ended the write before this attempt, which then had the parents made again.
        Path parent = folder.getParent();
        for (int i = 0; i < PARENTS && parent != null && removeIfEmpty(parent); i++) {
            parent = parent.getParent();
        }
    }

    /** Removes a directory that others may use: tasks of this write, or other writes. Returns whether it is gone. */
    static boolean removeIfEmpty(Path directory) {
        try {
            Files.deleteIfExists(directory);
            return true;
        } catch (IOException inUse) {
            return false;
        }
    }

    @Override
    public void close() {
        lease.close();
    }
}
