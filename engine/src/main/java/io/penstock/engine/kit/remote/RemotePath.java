// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.remote;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.InvalidPathException;
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
import org.jspecify.annotations.Nullable;

/**
 * The path of a file on a server; absolute, or relative to another one.
 *
 * @param names what is between the slashes, raw: a server may tell {@code %2F} from a slash, and {@code %2B} from a
 *     plus sign; of a URI also those that are empty
 * @param query the query of the URI, raw, which names derived from this path do not have
 */
record RemotePath(
        RemoteFileSystem fileSystem,
        boolean absolute,
        List<String> names,
        @Nullable String query) implements Path {

    /** Returns the path of a URI, as the URI has it. */
    static RemotePath of(RemoteFileSystem fileSystem, URI uri) {
        String path = uri.getRawPath();
        List<String> names =
                path.length() < 2 ? List.of() : List.of(path.substring(1).split("/", -1));
        return new RemotePath(fileSystem, true, names, uri.getRawQuery());
    }

    /** Returns the path with these names, of which none is raw. */
    static RemotePath of(RemoteFileSystem fileSystem, String path) {
        List<String> names = new ArrayList<>();
        for (String name : path.split("/")) {
            if (!name.isEmpty()) {
                names.add(raw(name));
            }
        }
        return new RemotePath(fileSystem, path.startsWith("/"), List.copyOf(names), null);
    }

    private static String raw(String name) {
        try {
            return new URI(null, null, "/" + name, null).getRawPath().substring(1);
        } catch (URISyntaxException e) {
            throw new InvalidPathException(name, e.getReason());
        }
    }

    /** Returns a path that is of a file on a server; throws otherwise. */
    static RemotePath own(Path path) {
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
        if (!both.isEmpty() && both.get(both.size() - 1).isEmpty()) { // behind the slash that ends a folder
            both.remove(both.size() - 1);
        }
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
        return URI.create(fileSystem.origin() + "/" + String.join("/", names) + (query == null ? "" : "?" + query));
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

    /** Returns the URI without its query, which may be a secret; of a relative path, its names, none raw. */
    @Override
    public String toString() {
        String path = "./" + String.join("/", names);
        return absolute
                ? fileSystem.origin() + path.substring(1)
                : URI.create(path).getPath().substring(2);
    }
}
