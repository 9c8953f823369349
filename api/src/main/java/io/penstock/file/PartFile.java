// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A file that appears as a whole or not at all: written under a hidden name next to its target, and moved over it at the
 * end. After {@link #discard} nothing is created and nothing is moved, so that a cancel which overtakes a step leaves
 * nothing. Thread-safe.
 */
public final class PartFile {

    private static final int MOST_LINKS = 40; // as Linux has it
    private static final int MOST_NAME_BYTES = 255; // of most file systems
    private static final int KEPT_OF_NAME = 50; // characters of up to four bytes

    private final boolean followsLinks;
    private Path target; // guarded by this
    private Path part; // guarded by this
    private boolean created; // guarded by this
    private boolean discarded; // guarded by this

    PartFile(Path target, LinkOption... options) {
        this.target = target.toAbsolutePath();
        this.part = this.target;
        this.followsLinks = !Arrays.asList(options).contains(LinkOption.NOFOLLOW_LINKS);
    }

    /**
     * Writes a file that replaces {@code target}, or creates it.
     *
     * <p><b>Result:</b> the value of {@code rest}, when the file has its name and its name is durable.
     *
     * <p><b>Threading:</b> names are given on a thread that may block; the rest as {@code rest} does.
     *
     * <p><b>Errors:</b> those of {@code rest}; {@link NoSuchFileException} if there is no such directory, or the name is too long;
     * {@link AccessDeniedException} if the directory must not be written, or the target is neither a regular file nor absent; other
     * {@link IOException}s of the file system. Nothing is left behind.
     *
     * <p><b>Cancellation:</b> at any moment. The target was replaced, or nothing is left behind; the latter may end after the cancel.
     *
     * @param first its first bytes
     * @param rest writes the others to the file of this name, and emits a value when they are durable
     * @param options without {@link LinkOption#NOFOLLOW_LINKS} a link stays one, also one to nothing yet; with it, it is replaced
     */
    public static <T> Mono<T> write(
            Path target, ByteBuffer first, Function<Path, Mono<T>> rest, LinkOption... options) {
        // The file has an owner before it is created, so that a cancel at any moment has something to discard.
        return Mono.usingWhen(
                Mono.fromSupplier(() -> new PartFile(target, options)),
                part -> BlockingCall.run(() -> part.create(first.duplicate()))
                        .then(Mono.defer(() -> rest.apply(part.path())))
                        .flatMap(value -> BlockingCall.run(part::commit).thenReturn(value)),
                part -> Mono.empty(),
                (part, failure) -> discarded(part),
                PartFile::discarded);
    }

    private static Mono<Void> discarded(PartFile part) {
        // Rejected where the application has shut down the scheduler: on the wrong thread is better than never.
        return BlockingCall.run(part::discard)
                .onErrorResume(
                        RejectedExecutionException.class,
                        e -> Mono.fromCallable(() -> {
                            part.discard();
                            return null;
                        }));
    }

    private synchronized Path path() {
        return part;
    }

    /** Creates the file with its first bytes, and the default permissions of new files. */
    synchronized void create(ByteBuffer first) throws IOException {
        checkWanted();
        try {
            if (followsLinks) {
                target = followed(target);
            }
            checkTarget();
            part = hidden(target);
            try (FileChannel channel =
                    FileChannel.open(part, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                created = true;
                while (first.hasRemaining()) {
                    channel.write(first);
                }
            }
        } catch (AccessDeniedException e) {
            throw e;
        } catch (FileSystemException e) {
            throw leadsNowhere() ? absent(e) : e;
        } catch (ClosedChannelException e) {
            throw e;
        } catch (IOException e) { // of a full disk, without a name
            FileSystemException named = new FileSystemException(target.toString(), null, e.getMessage());
            named.initCause(e);
            throw named;
        }
    }

    /** Returns a name that begins as the target's, which may be as long as any: errors of the backend name this file. */
    private static Path hidden(Path target) {
        StringBuilder name = new StringBuilder(".");
        String.valueOf(target.getFileName()).codePoints().limit(KEPT_OF_NAME).forEach(name::appendCodePoint);
        String unique = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
        return target.resolveSibling(
                name.append('.').append(unique).append(".part").toString());
    }

    /** Follows links, as a program does that opens a file to write it. */
    private static Path followed(Path path) throws IOException {
        Path at = path;
        for (int links = 0; Files.isSymbolicLink(at); links++) {
            if (links == MOST_LINKS) {
                throw new FileSystemLoopException(path.toString());
            }
            Path folder = Objects.requireNonNull(at.getParent());
            at = folder.toRealPath().resolve(Files.readSymbolicLink(at));
        }
        return at;
    }

    /** Throws if the target cannot be a file: before the bytes are written, not after it. */
    private void checkTarget() throws IOException {
        try {
            BasicFileAttributes is = Files.readAttributes(target, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (!is.isRegularFile() && !is.isSymbolicLink()) { // a folder, or /dev/null, for root
                throw new AccessDeniedException(target.toString(), null, "only a regular file is replaced");
            }
        } catch (NoSuchFileException e) {
            // nothing is replaced
        }
    }

    /**
     * Returns true if there can be no file at the path, because of a file in place of a folder on the way, or of a name that
     * is too long: the file system reports both in words alone.
     */
    private boolean leadsNowhere() {
        Path folder = target.getParent();
        byte[] name = String.valueOf(target.getFileName()).getBytes(StandardCharsets.UTF_8);
        return folder == null || !Files.isDirectory(folder) || name.length > MOST_NAME_BYTES;
    }

    private NoSuchFileException absent(FileSystemException cause) {
        NoSuchFileException absent = new NoSuchFileException(target.toString(), null, cause.getReason());
        absent.initCause(cause);
        return absent;
    }

    /** Moves the file to its target, whose bytes must be durable: readers see the old file or this one. */
    synchronized void commit() throws IOException {
        checkWanted();
        Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
        created = false;
        sync(Objects.requireNonNull(target.getParent()));
    }

    /**
     * Makes the names in a directory durable; does nothing where that is not possible: on Windows, or in a directory that this
     * process must not list.
     *
     * @throws IOException if the names may be lost
     */
    public static void sync(Path directory) throws IOException {
        FileChannel opened;
        try {
            opened = FileChannel.open(directory);
        } catch (AccessDeniedException notPossibleHere) {
            return;
        }
        try (opened) {
            sync(opened);
        }
    }

    /** Syncs a directory, unless its file system cannot: EINVAL, as of VirtualBox' shared folders, is no failure. */
    static void sync(FileChannel directory) throws IOException {
        try {
            directory.force(true);
        } catch (IOException e) {
            String text = e.getMessage();
            if (text == null || !text.equals("Invalid argument") && !text.equals(invalidArgument())) {
                throw e;
            }
        }
    }

    /**
     * Returns the text of EINVAL in the language of this process: an exception has the text alone, in the C library's words. The
     * directory of processes on Linux has no sync either. Null where there is none.
     */
    private static @Nullable String invalidArgument() {
        try (FileChannel processes = FileChannel.open(Path.of("/proc"))) {
            processes.force(true);
            return null;
        } catch (IOException e) {
            return e instanceof FileSystemException ? null : e.getMessage();
        }
    }

    /** Deletes the file unless it was moved; a second call does nothing. */
    synchronized void discard() throws IOException {
        discarded = true;
        if (created) {
            created = false;
            Files.deleteIfExists(part);
        }
    }

    private void checkWanted() throws ClosedChannelException {
        if (discarded) {
            throw new ClosedChannelException();
        }
    }
}
