// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.remote;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The path of a file on a server, decoded; absolute, or relative to another one.
 *
 * @param names the names between the slashes
 * @param query the query of the URI, raw, which names derived from this path do not have
 */
record RemotePath(
        RemoteFileSystem fileSystem,
        boolean absolute,
        List<String> names,
        @Nullable String query) implements Path {

    static RemotePath of(RemoteFileSystem fileSystem, String path, @Nullable String query) {
        List<String> names = new ArrayList<>();
        for (String name : path.split("/")) {
            if (!name.isEmpty()) {
                names.add(name);
            }
        }
        return new RemotePath(fileSystem, path.startsWith("/"), List.copyOf(names), query);
    }

    private static RemotePath own(Path path) {
        if (path instanceof RemotePath own) {
            return own;
        }
        throw new ProviderMismatchException(path + " is not the path of a file on a server");
    }

    private RemotePath with(boolean isAbsolute, List<String> other) {
        return new RemotePath(fileSystem, isAbsolute, List.copyOf(other), null);
    }

    @Override
    public FileSystem getFileSystem() {
        return fileSystem;
    }

    @Override
    public boolean isAbsolute() {
        return absolute;
    }

    @Override
    public @Nullable Path getRoot() {
        return absolute ? with(true, List.of()) : null;
    }

    @Override
    public @Nullable Path getFileName() {
        return names.isEmpty() ? null : with(false, names.subList(names.size() - 1, names.size()));
    }

    @Override
    public @Nullable Path getParent() {
        return names.size() < (absolute ? 1 : 2) ? null : with(absolute, names.subList(0, names.size() - 1));
    }

    @Override
    public int getNameCount() {
        return names.size();
    }

    @Override
    public Path getName(int index) {
        return subpath(index, index + 1);
    }

    @Override
    public Path subpath(int begin, int end) {
        if (begin < 0 || begin >= end || end > names.size()) {
            throw new IllegalArgumentException("no names " + begin + " to " + end + " in " + this);
        }
        return with(false, names.subList(begin, end));
    }

    @Override
    public boolean startsWith(Path other) {
        return other instanceof RemotePath start
                && start.fileSystem.equals(fileSystem)
                && start.absolute == absolute
                && start.names.size() <= names.size()
                && names.subList(0, start.names.size()).equals(start.names);
    }

    @Override
    public boolean endsWith(Path other) {
        return other instanceof RemotePath end
                && end.fileSystem.equals(fileSystem)
                && (end.absolute
                        ? equals(end)
                        : end.names.size() <= names.size()
                                && names.subList(names.size() - end.names.size(), names.size())
                                        .equals(end.names));
    }

    @Override
    public Path normalize() {
        Deque<String> kept = new ArrayDeque<>();
        for (String name : names) {
            if (name.equals("..") && !kept.isEmpty() && !kept.getLast().equals("..")) {
                kept.removeLast();
            } else if (!name.equals(".") && !(name.equals("..") && absolute)) {
                kept.addLast(name);
            }
        }
        return List.copyOf(kept).equals(names) ? this : with(absolute, List.copyOf(kept));
    }

    @Override
    public Path resolve(Path other) {
        RemotePath own = own(other);
        if (own.absolute) {
            return own;
        }
        if (own.names.isEmpty()) {
            return this;
        }
        List<String> both = new ArrayList<>(names);
        both.addAll(own.names);
        return with(absolute, both);
    }

    @Override
    public Path relativize(Path other) {
        RemotePath own = own(other);
        if (own.absolute != absolute || !own.fileSystem.equals(fileSystem)) {
            throw new IllegalArgumentException(other + " is not relative to " + this);
        }
        int common = 0;
        while (common < Math.min(names.size(), own.names.size())
                && names.get(common).equals(own.names.get(common))) {
            common++;
        }
        List<String> way = new ArrayList<>();
        for (int up = common; up < names.size(); up++) {
            way.add("..");
        }
        way.addAll(own.names.subList(common, own.names.size()));
        return with(false, way);
    }

    @Override
    public URI toUri() {
        URI origin = fileSystem.origin();
        try {
            URI whole = new URI(
                    origin.getScheme(),
                    null,
                    origin.getHost(),
                    origin.getPort(),
                    "/" + String.join("/", names),
                    null,
                    null);
            return query == null ? whole : URI.create(whole + "?" + query);
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public Path toAbsolutePath() {
        return absolute ? this : with(true, names);
    }

    @Override
    public Path toRealPath(LinkOption... options) {
        return toAbsolutePath().normalize();
    }

    @Override
    public WatchKey register(WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
        throw new UnsupportedOperationException("files on servers cannot be watched");
    }

    @Override
    public int compareTo(Path other) {
        return toString().compareTo(own(other).toString());
    }

    /** Returns the URI without its query, which may be a secret; of a relative path, its names. */
    @Override
    public String toString() {
        return absolute
                ? RemoteProvider.name(Objects.requireNonNull(with(true, names)).toUri())
                : String.join("/", names);
    }
}
