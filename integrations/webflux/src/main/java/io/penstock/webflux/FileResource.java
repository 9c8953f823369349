// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import io.penstock.Backend;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.springframework.core.io.AbstractResource;
import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;

/**
 * A file as the value of a handler, by {@link HttpFiles#resource}. In WebFlux {@link HttpFiles#writer} sends it, as
 * {@link HttpFiles#send} does. In Spring MVC the container sends it, with ranges: its stream reads by the backend,
 * which may be on any device.
 *
 * <p>It is for one response: length, time and tag are of the version that the first of these methods finds.
 *
 * <p><b>Threading:</b> thread-safe. Its methods but {@link #path}, {@link #getFilename} and {@link #getDescription}
 * block.
 *
 * <p><b>Errors:</b> {@link ResponseStatusException} NOT_FOUND if there is no such regular file, and FORBIDDEN if it
 * must not be read, so that the client gets these. {@link IOException} of {@link #getInputStream} if the file is another
 * version by then: the bytes of one version never go with the length, or the tag, of another.
 */
public final class FileResource extends AbstractResource {

    private static final int READ_AHEAD = 256 << 10;

    private final Backend backend;
    private final Path path;
    private final AtomicReference<@Nullable ServedFile> described = new AtomicReference<>();

    FileResource(Backend backend, Path path) {
        this.backend = backend;
        this.path = path;
    }

    /** Returns the path of the file. */
    public Path path() {
        return path;
    }

    /** Returns the strong entity tag of its version, for {@code ResponseEntity.ok().eTag(..)} in Spring MVC. */
    public String eTag() throws IOException {
        return described().version().entityTag();
    }

    @Override
    public boolean exists() {
        return Files.isRegularFile(path);
    }

    @Override
    public long contentLength() throws IOException {
        return described().size();
    }

    @Override
    public long lastModified() throws IOException {
        return described().modified().toEpochMilli();
    }

    private ServedFile described() throws IOException {
        ServedFile known = described.get();
        if (known != null) {
            return known;
        }
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            if (attributes.isRegularFile()) {
                ServedFile found = new ServedFile(path, attributes);
                ServedFile first = described.compareAndExchange(null, found);
                return first == null ? found : first;
            }
            throw new NoSuchFileException(path.toString(), null, "not a regular file");
        } catch (FileSystemException e) {
            throw refused(e);
        }
    }

    /** As {@link HttpFiles#send}: for a path through a file, or a name that is too long, each system has an error. */
    private IOException refused(FileSystemException cause) {
        if (HttpFiles.status(cause) instanceof ResponseStatusException refusal) {
            throw refusal;
        }
        if (!exists()) {
            throw new ResponseStatusException(HttpStatus.NOT_FOUND, null, cause);
        }
        return cause;
    }

    @Override
    public String getFilename() {
        return String.valueOf(path.getFileName());
    }

    @Override
    public String getDescription() {
        return "file " + path;
    }

    /**
     * Returns a stream of the file, which the caller closes; an interrupt ends a read of it.
     *
     * @throws IOException if the file was replaced or changed after its length, time or tag was asked for
     */
    @Override
    public InputStream getInputStream() throws IOException {
        try {
            StorageFile file = backend.blocking().openFile(path, FileOption.READ);
            try {
                check(new ServedFile(path, file.attributes()));
                SeekableByteChannel channel = backend.blocking().channel(file);
                return new Bytes(file, Channels.newInputStream(channel));
            } catch (IOException | InterruptedException | RuntimeException e) {
                file.close();
                throw e;
            }
        } catch (FileSystemException e) {
            throw refused(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException(getDescription() + " was not opened: the thread was interrupted");
        }
    }

    /** Compares by tags, since the keys of the JDK and of the backend have only their texts in common. */
    private void check(ServedFile opened) throws IOException {
        ServedFile known = described.get();
        if (known != null
                && !known.version().entityTag().equals(opened.version().entityTag())) {
            throw new IOException(getDescription() + " was replaced or changed after its length, time or tag was asked"
                    + " for; a new resource(path) is of the file that is there now");
        }
    }

    /** Closes the file with it, and skips as much as it is told, which Spring expects where there are several ranges. */
    private static final class Bytes extends BufferedInputStream {

        private final StorageFile file;

        Bytes(StorageFile file, InputStream bytes) {
            super(bytes, READ_AHEAD);
            this.file = file;
        }

        @Override
        public synchronized long skip(long bytes) throws IOException {
            long left = bytes;
            long skipped;
            do {
                skipped = super.skip(left);
                left -= skipped;
            } while (skipped > 0);
            return bytes - left;
        }

        @Override
        public void close() throws IOException {
            try (file) {
                super.close();
            }
        }
    }
}
