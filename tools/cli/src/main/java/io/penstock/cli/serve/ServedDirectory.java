// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.penstock.netty.http.FileVersion;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * The directory whose files are served, and nothing outside it: links are resolved first, and the resolved path
 * decides.
 *
 * <p>A user with write access to the directory can replace a file by a link between check and open; hence {@link
 * #isStill}, which is checked once the file is open, and {@link FoundFile#isKeyOf}.
 */
public final class ServedDirectory {

    private final Path root;
    private final boolean unix;
    private final boolean dotFiles;

    /**
     * Serves {@code directory} without names that begin with a dot: such files are private.
     *
     * @throws NotDirectoryException if it is not a directory
     */
    public ServedDirectory(Path directory) throws IOException {
        this(directory, false);
    }

    /**
     * Serves {@code directory}.
     *
     * @param dotFiles true to serve files whose name begins with a dot, and files in such directories
     * @throws NotDirectoryException if it is not a directory
     */
    public ServedDirectory(Path directory, boolean dotFiles) throws IOException {
        this.dotFiles = dotFiles;
        root = directory.toRealPath();
        unix = root.getFileSystem().supportedFileAttributeViews().contains("unix");
        if (!Files.isDirectory(root)) {
            throw new NotDirectoryException(directory.toString());
        }
    }

    /** Returns the real path of the directory. */
    public Path root() {
        return root;
    }

    /**
     * Returns the regular file that a request names, if it exists. Blocks on the file system.
     *
     * @throws AccessDeniedException if the system denies access
     */
    Optional<FoundFile> find(RequestPath request) throws IOException {
        try {
            Path asked = root;
            for (String segment : request.segments()) {
                asked = asked.resolve(segment);
            }
            Path real = asked.toRealPath();
            // A file has no children, whatever follows its name: /data.bin/ is not /data.bin.
            boolean inside = real.startsWith(root) && !lastOf(request).isEmpty();
            return inside && isShown(root.relativize(asked)) && isShown(root.relativize(real))
                    ? stat(real)
                    : Optional.empty();
        } catch (AccessDeniedException refused) {
            throw refused;
        } catch (FileSystemException | InvalidPathException none) {
            return Optional
                    .empty(); // missing, name too long, loop of links, or a character that the system does not support
        }
    }

    private boolean isShown(Path below) {
        for (Path name : below) {
            if (!dotFiles && name.toString().startsWith(".")) {
                return false;
            }
        }
        return true;
    }

    private static String lastOf(RequestPath request) {
        return request.segments().get(request.segments().size() - 1);
    }

    /** Returns true if the path still leads to the same file, without a link in it. */
    boolean isStill(FoundFile found) throws IOException {
        Path real = found.path().toRealPath();
        return real.equals(found.path())
                && stat(real).map(FoundFile::key).filter(found.key()::equals).isPresent();
    }

    private Optional<FoundFile> stat(Path real) throws IOException {
        BasicFileAttributes is = Files.readAttributes(real, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!is.isRegularFile()) {
            return Optional.empty(); // never opened: opening a pipe or a device may block or have side effects
        }
        // The change time too: unlike the modification time, it cannot be set back after a change.
        FileTime changed =
                unix ? (FileTime) Files.getAttribute(real, "unix:ctime", LinkOption.NOFOLLOW_LINKS) : is.creationTime();
        String key = String.valueOf(is.fileKey());
        String version = key
                + ' '
                + is.size()
                + ' '
                + is.lastModifiedTime().to(TimeUnit.NANOSECONDS)
                + ' '
                + changed.to(TimeUnit.NANOSECONDS);
        Instant modified = is.lastModifiedTime().toInstant();
        return Optional.of(new FoundFile(real, key, is.size(), FileVersion.of(version, modified)));
    }
}
