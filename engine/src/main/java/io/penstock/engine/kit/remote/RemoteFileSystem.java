// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.remote;

import java.net.URI;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.WatchService;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;

/** The files of one server; always open, and read-only. Equal for equal origins. */
final class RemoteFileSystem extends FileSystem {

    private final RemoteFileSystemProvider provider;
    private final URI origin; // scheme, host and port, or another name of what has the files

    RemoteFileSystem(RemoteFileSystemProvider provider, URI uri) {
        this.provider = provider;
        String authority = uri.getRawAuthority();
        this.origin = URI.create(provider.getScheme() + "://" + authority.substring(authority.lastIndexOf('@') + 1));
    }

    URI origin() {
        return origin;
    }

    @Override
    public FileSystemProvider provider() {
        return provider;
    }

    /** {@inheritDoc} Not possible. */
    @Override
    public void close() {
        throw new UnsupportedOperationException("the files of servers are always accessible");
    }

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public boolean isReadOnly() {
        return true;
    }

    @Override
    public String getSeparator() {
        return "/";
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        return List.of(getPath("/"));
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        return List.of();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        return Set.of("basic");
    }

    @Override
    public Path getPath(String first, String... more) {
        String joined = more.length == 0 ? first : first + "/" + String.join("/", more);
        return RemotePath.of(this, joined);
    }

    /** {@inheritDoc} By regular expressions only. */
    @Override
    public PathMatcher getPathMatcher(String syntaxAndPattern) {
        if (!syntaxAndPattern.startsWith("regex:")) {
            throw new UnsupportedOperationException("paths on servers are matched by regex:, was " + syntaxAndPattern);
        }
        Pattern pattern = Pattern.compile(syntaxAndPattern.substring("regex:".length()));
        return path -> pattern.matcher(path.toString()).matches();
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        throw new UnsupportedOperationException("files on servers have no owners");
    }

    @Override
    public WatchService newWatchService() {
        throw new UnsupportedOperationException("files on servers cannot be watched");
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RemoteFileSystem system && system.origin.equals(origin);
    }

    @Override
    public int hashCode() {
        return Objects.hash(origin);
    }

    @Override
    public String toString() {
        return origin.toString();
    }
}
