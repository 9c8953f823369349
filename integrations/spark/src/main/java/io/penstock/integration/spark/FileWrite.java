// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileUtil;
import org.apache.spark.sql.connector.write.BatchWrite;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.LogicalWriteInfo;
import org.apache.spark.sql.connector.write.PhysicalWriteInfo;
import org.apache.spark.sql.connector.write.Write;
import org.apache.spark.sql.connector.write.WriteBuilder;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A write of rows as files of a directory, a file for each row, out of its bytes or of the device memory that it names.
 * Tasks write below {@code _temporary}, which the source does not read; the driver renames what they have written once
 * all have committed.
 */
final class FileWrite implements WriteBuilder, Write, BatchWrite {

    static final String TEMPORARY = "_temporary"; // the folder in the directory where tasks write

    private static final Logger LOG = LoggerFactory.getLogger(FileWrite.class);
    private static final int REMOVALS = 10;

    private final Path directory;
    private final Path parent; // of the temporary folders of all writes
    private final Path temporary;
    private final int nameColumn;
    private final int contentColumn;
    private final Column content;

    FileWrite(SourceOptions options, LogicalWriteInfo info) {
        if (options.paths().size() != 1) {
            throw new IllegalArgumentException("rows must be written to 1 directory, had " + options.paths());
        }
        this.directory = options.paths().get(0);
        this.parent = directory.resolve(TEMPORARY);
        this.temporary = parent.resolve(info.queryId());
        StructType schema = info.schema();
        OptionalInt bytes = find(schema, Column.BYTES, DataTypes.BinaryType);
        OptionalInt handle = find(schema, Column.HANDLE, DataTypes.LongType);
        if (bytes.isPresent() == handle.isPresent()) {
            throw new IllegalArgumentException(
                    "rows to be written must have either a column bytes of type binary or a column handle of type"
                            + " bigint, had " + schema.simpleString());
        }
        this.nameColumn = find(schema, Column.NAME, DataTypes.StringType)
                .orElseThrow(() -> new IllegalArgumentException(
                        "rows to be written must have a column name of type string, had " + schema.simpleString()));
        this.content = bytes.isPresent() ? Column.BYTES : Column.HANDLE;
        this.contentColumn = bytes.isPresent() ? bytes.getAsInt() : handle.getAsInt();
    }

    private static OptionalInt find(StructType schema, Column column, DataType type) {
        return IntStream.range(0, schema.length())
                .filter(i -> schema.apply(i).name().equalsIgnoreCase(column.label())
                        && schema.apply(i).dataType().equals(type))
                .findFirst();
    }

    @Override
    public Write build() {
        return this;
    }

    @Override
    public String description() {
        return "penstock write to " + directory;
    }

    @Override
    public BatchWrite toBatch() {
        return this;
    }

    @Override
    public DataWriterFactory createBatchWriterFactory(PhysicalWriteInfo info) {
        String folders = temporary.toString();
        int name = nameColumn;
        int from = contentColumn;
        Column kind = content;
        return (partition, task) -> new FileWriter(Path.of(folders, partition + "-" + task), name, from, kind);
    }

    @Override
    public void commit(WriterCommitMessage[] messages) {
        Map<Path, Path> moves = new LinkedHashMap<>();
        List<Path> moved = new ArrayList<>();
        try {
            for (WriterCommitMessage message : messages) {
                FileWriter.Written written = (FileWriter.Written) message;
                for (String name : written.names()) {
                    Path target = directory.resolve(name);
                    if (moves.put(target, Path.of(written.folder(), name)) != null || Files.exists(target)) {
                        throw new FileAlreadyExistsException(target.toString());
                    }
                }
            }
            for (Map.Entry<Path, Path> move : moves.entrySet()) {
                Files.createDirectories(move.getKey().getParent());
                rename(move.getValue(), move.getKey());
                moved.add(move.getKey());
            }
        } catch (IOException e) {
            moved.forEach(target -> undo(target, e));
            throw new UncheckedIOException(e);
        }
        removeTemporary();
    }

    /**
     * Gives a file its name, unless there is one of that name: by a link, since a rename replaces what another write
     * has named after the last look. The file's first name is removed with its folder.
     */
    private static void rename(Path written, Path target) throws IOException {
        try {
            Files.createLink(target, written);
        } catch (FileAlreadyExistsException taken) {
            throw taken;
        } catch (IOException
                | UnsupportedOperationException noLinks) { // of this file system, or to files of another user
            if (Files.exists(target)) {
                throw new FileAlreadyExistsException(target.toString());
            }
            Files.move(written, target, StandardCopyOption.ATOMIC_MOVE); // fails where it would be a copy
        }
    }

    private static void undo(Path target, IOException cause) {
        try {
            Files.deleteIfExists(target);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
    }

    @Override
    public void abort(WriterCommitMessage[] messages) {
        removeTemporary();
    }

    /**
     * Removes the files of tasks. A task that Spark is still aborting, such as the slower copy of one that has
     * committed, may write meanwhile; its abort removes files that it adds after this.
     */
    private void removeTemporary() {
        boolean removed = false;
        for (int i = 0; i < REMOVALS && !removed; i++) {
            removed = FileUtil.fullyDelete(temporary.toFile()) || !Files.exists(temporary);
        }
        if (!removed) { // for example an open file on Windows; the rows are committed all the same
            LOG.warn("{} cannot be removed", temporary);
        }
        FileWriter.removeIfEmpty(parent);
    }
}
