// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.FileOption;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.IoPath;
import java.net.URI;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** An open file on another host. */
final class RemoteFile extends EngineFile {

    private final URI uri;
    private final String name;

    RemoteFile(Owner owner, URI uri, Set<FileOption> options, AsyncFile file, List<IoPath> ioPaths) {
        super(owner, path(uri), options, natives(file, ioPaths));
        this.uri = uri;
        this.name = RemoteProvider.name(uri);
    }

    private static List<OpenedFile> natives(AsyncFile file, List<IoPath> ioPaths) {
        List<OpenedFile> natives = new ArrayList<>();
        for (int ioPath = 0; ioPath < ioPaths.size() - 1; ioPath++) {
            natives.add(new OpenedFile(null, "the file is on another host"));
        }
        natives.add(new OpenedFile(file, ""));
        return List.copyOf(natives);
    }

    private static Path path(URI uri) {
        try {
            return Path.of(uri);
        } catch (FileSystemNotFoundException | IllegalArgumentException e) { // no provider of java.nio.file for it
            try {
                Path path = Path.of(uri.getPath());
                return path.getFileName() == null ? Path.of(uri.getRawAuthority()) : path;
            } catch (InvalidPathException invalid) { // characters that this operating system does not allow
                return Path.of(Integer.toHexString(uri.hashCode()));
            }
        }
    }

    @Override
    boolean isRemote() {
        return true;
    }

    @Override
    public URI uri() {
        return uri;
    }

    @Override
    public String toString() {
        return name;
    }
}
