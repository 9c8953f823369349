// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.remote;

import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.FileAttributes;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.ReadOnlyFileSystemException;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.spi.FileSystemProvider;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A provider of {@code java.nio.file} whose files are on other hosts, so that what reads metadata of files by it reads
 * those too: {@code Path.of(URI.create("https://..."))}. Read-only, without directories.
 *
 * <p>A module names its subclass as a service twice: as a {@link RemoteProvider} and as a {@link FileSystemProvider}.
 */
public abstract class RemoteFileSystemProvider extends FileSystemProvider implements RemoteProvider {

    private final String scheme;

    /**
     * Creates a provider.
     *
     * @param scheme of its URIs, in lower case
     */
    protected RemoteFileSystemProvider(String scheme) {
        this.scheme = scheme;
    }

    /** {@inheritDoc} One. */
    @Override
    public final Set<String> schemes() {
        return Set.of(scheme);
    }

    @Override
    public final String getScheme() {
        return scheme;
    }

    @Override
    public FileSystem newFileSystem(URI uri, Map<String, ?> env) {
        return getFileSystem(uri);
    }

    @Override
    public FileSystem getFileSystem(URI uri) {
        return fileSystem(uri);
    }

    private RemoteFileSystem fileSystem(URI uri) {
        if (!scheme.equalsIgnoreCase(uri.getScheme()) || uri.getRawAuthority() == null) {
            throw new IllegalArgumentException("a URI of a file on a server must begin with " + scheme + "://HOST");
        }
        return new RemoteFileSystem(this, uri);
    }

    @Override
    public Path getPath(URI uri) {
        return RemotePath.of(fileSystem(uri), uri);
    }

    private AsyncFile open(Path path) throws IOException {
        return open(
                RemotePath.own(path).toUri(),
                Set.of(FileOption.READ),
                Options.none().resolve(Backends.options()));
    }

    @Override
    public SeekableByteChannel newByteChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
        for (OpenOption option : options) {
            if (option == StandardOpenOption.WRITE || option == StandardOpenOption.APPEND) {
                throw new ReadOnlyFileSystemException();
            }
        }
        return new RemoteChannel(open(path));
    }

    @Override
    public DirectoryStream<Path> newDirectoryStream(Path folder, DirectoryStream.Filter<? super Path> filter)
            throws IOException {
        throw new NotDirectoryException(folder.toString());
    }

    @Override
    public void createDirectory(Path folder, FileAttribute<?>... attributes) {
        throw new ReadOnlyFileSystemException();
    }

    @Override
    public void delete(Path path) {
        throw new ReadOnlyFileSystemException();
    }

    @Override
    public void copy(Path source, Path target, CopyOption... options) {
        throw new ReadOnlyFileSystemException();
    }

    @Override
    public void move(Path source, Path target, CopyOption... options) {
        throw new ReadOnlyFileSystemException();
    }

    @Override
    public boolean isSameFile(Path path, Path other) {
        return path.equals(other);
    }

    @Override
    public boolean isHidden(Path path) {
        return false;
    }

    @Override
    public FileStore getFileStore(Path path) {
        throw new UnsupportedOperationException("the disks of servers are not known");
    }

    @Override
    public void checkAccess(Path path, AccessMode... modes) throws IOException {
        for (AccessMode mode : modes) {
            if (mode != AccessMode.READ) {
                throw new AccessDeniedException(path.toString(), null, "it can only be read");
            }
        }
        open(path).close();
    }

    @Override
    @SuppressWarnings("unchecked") // as the interface demands
    public <V extends FileAttributeView> @Nullable V getFileAttributeView(
            Path path, Class<V> type, LinkOption... options) {
        return type == BasicFileAttributeView.class ? (V) new View(path) : null;
    }

    @Override
    public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
            throws IOException {
        if (type != BasicFileAttributes.class) {
            throw new UnsupportedOperationException("files on servers have no " + type.getSimpleName());
        }
        AsyncFile file = open(path);
        file.close();
        return type.cast(new FileAttributes(true, file.size(), FileAttributes.UNKNOWN, null));
    }

    @Override
    public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options) throws IOException {
        if (!attributes.equals("size") && !attributes.equals("basic:size")) {
            throw new UnsupportedOperationException("of a file on a server the size is known, not " + attributes);
        }
        return Map.of("size", readAttributes(path, BasicFileAttributes.class).size());
    }

    @Override
    public void setAttribute(Path path, String attribute, Object value, LinkOption... options) {
        throw new ReadOnlyFileSystemException();
    }

    private record View(Path path) implements BasicFileAttributeView {

        @Override
        public String name() {
            return "basic";
        }

        @Override
        public BasicFileAttributes readAttributes() throws IOException {
            return path.getFileSystem().provider().readAttributes(path, BasicFileAttributes.class);
        }

        @Override
        public void setTimes(FileTime modified, FileTime accessed, FileTime created) {
            throw new ReadOnlyFileSystemException();
        }
    }
}
