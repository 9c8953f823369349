// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.FileStoreAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.Map;
import java.util.Set;

/** The kernel's files as the JDK shows them, by channels: as much of a file system as the engine asks for. */
final class SimulatedFileSystem extends FileSystemProvider {

    private final SimulatedKernel kernel;
    private final FileSystem system = new OneProvider(this);

    SimulatedFileSystem(SimulatedKernel kernel) {
        this.kernel = kernel;
    }

    /** Returns the path of a file. */
    Path path(SimulatedFile file) {
        return (Path) Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Path.class},
                (path, method, arguments) -> switch (method.getName()) {
                    case "getFileSystem" -> system;
                    case "getFileName" -> path;
                    case "getParent", "getRoot" -> null;
                    case "toAbsolutePath" -> path;
                    case "toString" -> file.name;
                    case "hashCode" -> file.name.hashCode();
                    case "equals" -> path == arguments[0];
                    default -> throw notSimulated(method.getName());
                });
    }

    private static UnsupportedOperationException notSimulated(String what) {
        return new UnsupportedOperationException("not simulated: " + what);
    }

    private SimulatedFile file(Path path) throws IOException {
        SimulatedFile file = kernel.files.named(path.toString());
        if (file == null) {
            throw new NoSuchFileException(path.toString());
        }
        if (kernel.files.refused(file) != 0) {
            throw new IOException("Input/output error");
        }
        return file;
    }

    @Override
    public FileChannel newFileChannel(Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes)
            throws IOException {
        boolean direct = options.stream().anyMatch(option -> option.toString().equals("DIRECT"));
        return new SimulatedChannel(kernel, kernel.files.open(file(path), direct));
    }

    @Override
    public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
            throws IOException {
        SimulatedFile file = file(path);
        return type.cast(Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {type},
                (attributes, method, arguments) -> switch (method.getName()) {
                    case "isDirectory", "isOther" -> false;
                    case "fileKey" -> "simulated inode " + file.inode;
                    default -> throw notSimulated(method.getName());
                }));
    }

    @Override
    public FileStore getFileStore(Path path) throws IOException {
        return new Store(file(path).fileAlignment);
    }

    @Override
    public String getScheme() {
        throw notSimulated("getScheme");
    }

    @Override
    public FileSystem newFileSystem(URI uri, Map<String, ?> settings) {
        throw notSimulated("newFileSystem");
    }

    @Override
    public FileSystem getFileSystem(URI uri) {
        throw notSimulated("getFileSystem");
    }

    @Override
    public Path getPath(URI uri) {
        throw notSimulated("getPath");
    }

    @Override
    public SeekableByteChannel newByteChannel(
            Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) {
        throw notSimulated("newByteChannel");
    }

    @Override
    public DirectoryStream<Path> newDirectoryStream(Path path, DirectoryStream.Filter<? super Path> filter) {
        throw notSimulated("newDirectoryStream");
    }

    @Override
    public void createDirectory(Path path, FileAttribute<?>... attributes) {
        throw notSimulated("createDirectory");
    }

    @Override
    public void delete(Path path) {
        throw notSimulated("delete");
    }

    @Override
    public void copy(Path from, Path to, CopyOption... options) {
        throw notSimulated("copy");
    }

    @Override
    public void move(Path from, Path to, CopyOption... options) {
        throw notSimulated("move");
    }

    @Override
    public boolean isSameFile(Path one, Path other) {
        throw notSimulated("isSameFile");
    }

    @Override
    public boolean isHidden(Path path) {
        throw notSimulated("isHidden");
    }

    @Override
    public void checkAccess(Path path, AccessMode... modes) {
        throw notSimulated("checkAccess");
    }

    @Override
    public <V extends FileAttributeView> V getFileAttributeView(Path path, Class<V> type, LinkOption... options) {
        throw notSimulated("getFileAttributeView");
    }

    @Override
    public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options) {
        throw notSimulated("readAttributes");
    }

    @Override
    public void setAttribute(Path path, String attribute, Object value, LinkOption... options) {
        throw notSimulated("setAttribute");
    }

    /** A file system that has a provider. */
    private static final class OneProvider extends FileSystem {
        private final FileSystemProvider provider;

        OneProvider(FileSystemProvider provider) {
            this.provider = provider;
        }

        @Override
        public FileSystemProvider provider() {
            return provider;
        }

        @Override
        public void close() {
            throw notSimulated("close");
        }

        @Override
        public boolean isOpen() {
            throw notSimulated("isOpen");
        }

        @Override
        public boolean isReadOnly() {
            throw notSimulated("isReadOnly");
        }

        @Override
        public String getSeparator() {
            throw notSimulated("getSeparator");
        }

        @Override
        public Iterable<Path> getRootDirectories() {
            throw notSimulated("getRootDirectories");
        }

        @Override
        public Iterable<FileStore> getFileStores() {
            throw notSimulated("getFileStores");
        }

        @Override
        public Set<String> supportedFileAttributeViews() {
            return Set.of("basic");
        }

        @Override
        public Path getPath(String first, String... more) {
            throw notSimulated("getPath");
        }

        @Override
        public PathMatcher getPathMatcher(String pattern) {
            throw notSimulated("getPathMatcher");
        }

        @Override
        public UserPrincipalLookupService getUserPrincipalLookupService() {
            throw notSimulated("getUserPrincipalLookupService");
        }

        @Override
        public WatchService newWatchService() {
            throw notSimulated("newWatchService");
        }
    }

    /** A file store that has a block size. */
    private static final class Store extends FileStore {
        private final int blockBytes;

        Store(int blockBytes) {
            this.blockBytes = blockBytes;
        }

        @Override
        public long getBlockSize() {
            return blockBytes;
        }

        @Override
        public String name() {
            throw notSimulated("name");
        }

        @Override
        public String type() {
            throw notSimulated("type");
        }

        @Override
        public boolean isReadOnly() {
            throw notSimulated("isReadOnly");
        }

        @Override
        public long getTotalSpace() {
            throw notSimulated("getTotalSpace");
        }

        @Override
        public long getUsableSpace() {
            throw notSimulated("getUsableSpace");
        }

        @Override
        public long getUnallocatedSpace() {
            throw notSimulated("getUnallocatedSpace");
        }

        @Override
        public boolean supportsFileAttributeView(Class<? extends FileAttributeView> type) {
            throw notSimulated("supportsFileAttributeView");
        }

        @Override
        public boolean supportsFileAttributeView(String name) {
            throw notSimulated("supportsFileAttributeView");
        }

        @Override
        public <V extends FileStoreAttributeView> V getFileStoreAttributeView(Class<V> type) {
            throw notSimulated("getFileStoreAttributeView");
        }

        @Override
        public Object getAttribute(String attribute) {
            throw notSimulated("getAttribute");
        }
    }
}
