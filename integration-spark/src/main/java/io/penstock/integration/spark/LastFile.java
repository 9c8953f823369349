// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import io.penstock.Backend;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.Formats;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The file that a reader has open, since the next region is usually one of the same. Blocks; for one thread at a time.
 */
final class LastFile implements AutoCloseable {

    private final Backend backend;
    private @Nullable StorageFile file;
    private @Nullable ArrayFile metadata;

    LastFile(Backend backend) {
        this.backend = backend;
    }

    /** Returns the file of a region, open until that of another one is wanted. */
    StorageFile of(Region region) throws IOException, InterruptedException {
        StorageFile open = file;
        if (open == null || !open.path().toString().equals(region.path())) {
            close();
            open = backend.blocking().openFile(Path.of(region.path()), FileOption.READ);
            file = open;
        }
        return open;
    }

    /** Returns an array that lies in chunks, as a file that has no other. */
    ArrayFile arrayOf(Region region) throws IOException, InterruptedException {
        ArrayFile read = metadata;
        if (read == null || !read.path().equals(Path.of(region.path()))) {
            read = backend.blocking().await(Formats.read(Path.of(region.path())));
            metadata = read;
        }
        ArrayFile all = Objects.requireNonNull(read);
        Array array = all.array(region.name())
                .filter(found -> found.bytes() == region.length())
                .orElseThrow(
                        () -> new IOException("the array is not what it was when the query was planned: " + region));
        return new ArrayFile(all.path(), all.format(), all.attributes(), List.of(array));
    }

    @Override
    public void close() {
        if (file != null) {
            file.close();
            file = null;
        }
    }
}
