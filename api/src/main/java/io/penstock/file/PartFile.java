// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import io.penstock.Failure;
import io.penstock.PenstockException;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * A file that appears as a whole or not at all: written without a name, or under a {@link HiddenName} next to its
 * target where there are no such files, and given its name at the end. What it replaces leaves it its
 * {@link KeptAttributes}. After {@link #close} nothing is created and nothing is moved, so that a cancel which
 * overtakes a step leaves nothing. Thread-safe.
 */
public final class PartFile implements AutoCloseable {

    private static final int MOST_LINKS = 40; // as Linux has it
    private static final int MOST_NAME_BYTES = 255; // of most file systems
    private static final String ONLY_FILES = "only a regular file is replaced";
    private static final Set<PosixFilePermission> OWNER =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);

    private final boolean replaces;
    private final boolean followsLinks;
    private final @Nullable Set<PosixFilePermission> permissions;
    private @Nullable NativeFiles files; // null: the system's
    private Path target; // guarded by this
    private NativeFiles.@Nullable Unnamed unnamed; // guarded by this
    private @Nullable HiddenName hidden; // guarded by this
    private @Nullable Set<PosixFilePermission> granted; // guarded by this
    private volatile boolean over; // written under this
    private @Nullable Thread atExit; // guarded by this

    private PartFile(
            Path target, boolean replaces, boolean followsLinks, @Nullable Set<PosixFilePermission> permissions) {
        this.target = target.toAbsolutePath();
        this.replaces = replaces;
        this.followsLinks = followsLinks;
        this.permissions = permissions;
    }

    PartFile(Path target, LinkOption... options) {
        this(target, true, !Arrays.asList(options).contains(LinkOption.NOFOLLOW_LINKS), null);
    }

    /**
     * Creates an empty file, to be written by its {@link #path}, or by {@link #fill}. Blocks, as all other methods but
     * {@link #write}.
     *
     * @param replaces whether a file of that name is replaced, or a link: {@link FileAlreadyExistsException} else, also
     *     by {@link #commit}
     * @param permissions of a file that replaces none, less the umask; until the commit only its owner can read it.
     *     Null for the file system's own
     * @throws IOException if there is no such directory, it must not be written, or only another thing than a file can
     *     have this name
     */
    public static PartFile create(Path target, boolean replaces, @Nullable Set<PosixFilePermission> permissions)
            throws IOException {
        return create(target, replaces, permissions, NativeFiles.ofSystem());
    }

    static PartFile create(
            Path target, boolean replaces, @Nullable Set<PosixFilePermission> permissions, NativeFiles files)
            throws IOException {
        folder(target);
        PartFile file = new PartFile(target, replaces, false, permissions);
        file.files = files;
        try {
            file.create(ByteBuffer.allocate(0));
        } catch (IOException | RuntimeException | Error e) {
            try {
                file.close();
            } catch (IOException more) {
                e.addSuppressed(more);
            }
            throw e;
        }
        file.closeAtExit();
        return file;
    }

    /** As of Ctrl-C in a command. */
    private synchronized void closeAtExit() {
        if (hidden != null) {
            atExit = new Thread(() -> {
                try {
                    close();
                } catch (IOException e) {
                    // the next writer of the target removes it
                }
            });
            Runtime.getRuntime().addShutdownHook(atExit);
        }
    }

    /**
     * Returns the directory of a file to be.
     *
     * @throws IOException if it does not exist or is not writable
     */
    public static Path folder(Path target) throws IOException {
        Path folder = target.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new IOException("there is no directory " + folder);
        }
        if (!Files.isWritable(folder)) {
            throw new AccessDeniedException(folder.toString());
        }
        return folder;
    }

    /** Not before a call that may block: a subscriber of {@link #write} may be an event loop, and this loads classes. */
    private NativeFiles files() {
        NativeFiles given = files;
        return given == null ? NativeFiles.ofSystem() : given;
    }

    /**
     * Writes a file that replaces {@code target}, or creates it.
     *
     * <p><b>Result:</b> the value of {@code rest}, when the file has its name and its name is durable.
     *
     * <p><b>Threading:</b> names are given on a thread that may block; the rest as {@code rest} does.
     *
     * <p><b>Errors:</b> the errors of {@code rest}; {@link NoSuchFileException} if there is no such directory, or the
     * name is too long; {@link AccessDeniedException} if the directory must not be written, or the target is neither a
     * regular file nor absent; other {@link IOException}s of the file system. Nothing is left behind.
     *
     * <p><b>Cancellation:</b> at any moment. The target was replaced, or nothing is left behind; the latter may end
     * after the cancel.
     *
     * @param first its first bytes
     * @param rest writes the others to the file of this name, and emits a value when they are durable
     * @param options without {@link LinkOption#NOFOLLOW_LINKS} a link stays one, also one to nothing yet; with it, it
     *     is replaced
     */
    public static <T> Mono<T> write(
            Path target, ByteBuffer first, Function<Path, Mono<T>> rest, LinkOption... options) {
        // The file has an owner before it is created, so that a cancel at any moment has something to discard.
        return Mono.usingWhen(
                Mono.fromSupplier(() -> new PartFile(target, options)),
                part -> BlockingCall.run(() -> part.create(first.duplicate()))
                        .then(Mono.defer(() -> part.rest(rest)))
                        .switchIfEmpty(Mono.error(() -> part.failed("its writer ended without a result", null)))
                        .onErrorMap(part::named)
                        .flatMap(value -> BlockingCall.run(part::commit).thenReturn(value)),
                PartFile::closed,
                (part, failure) -> closed(part).onErrorComplete(e -> {
                    failure.addSuppressed(e);
                    return true;
                }),
                PartFile::closed);
    }

    private <T> Mono<T> rest(Function<Path, Mono<T>> rest) {
        Path path;
        synchronized (this) {
            if (over) { // by a cancel, so that nobody waits; the path may be another file's by now
                return Mono.never();
            }
            path = path();
        }
        // An opening that a cancel has overtaken finds no such file any more.
        return rest.apply(path).contextWrite(LateErrors::debugged);
    }

    private static Mono<Void> closed(PartFile part) {
        if (part.over) {
            return Mono.empty();
        }
        // Rejected where the application has shut down the scheduler: on the wrong thread is better than never.
        return BlockingCall.run(part::close)
                .onErrorResume(
                        RejectedExecutionException.class,
                        e -> Mono.fromCallable(() -> {
                            part.close();
                            return null;
                        }));
    }

    /** Returns the path by which this process can open it. */
    public synchronized Path path() {
        return unnamed == null ? Objects.requireNonNull(hidden).path() : unnamed.path();
    }

    /**
     * Returns the file that stays if the process is killed meanwhile: until the next writer of the target, which
     * removes it.
     */
    public synchronized Optional<Path> leftByKill() {
        return Optional.ofNullable(hidden).map(HiddenName::path);
    }

    /** Fills a file. */
    @FunctionalInterface
    public interface Filling {
        void fill(Path part) throws IOException;
    }

    /**
     * Fills the file, and makes its bytes durable.
     *
     * @throws FileSystemException if it cannot be written; names the target, and the first cause
     */
    public void fill(Filling filling) throws IOException {
        try {
            filling.fill(path());
            try (FileChannel channel = FileChannel.open(path(), StandardOpenOption.WRITE)) {
                channel.force(true);
            }
        } catch (IOException e) {
            IOException first = e;
            while (first.getCause() instanceof IOException cause) { // ImageIO's own exceptions state no reason
                first = cause;
            }
            throw failed(first instanceof FileSystemException known ? known.getReason() : first.getMessage(), e);
        }
    }

    private synchronized FileSystemException failed(@Nullable String reason, @Nullable Exception cause) {
        FileSystemException named = new FileSystemException(target.toString(), null, reason);
        named.initCause(cause);
        return named;
    }

    /**
     * Creates the file with its first bytes: for its owner alone if it replaces another, until it gets the other's
     * permissions.
     */
    synchronized void create(ByteBuffer first) throws IOException {
        checkWanted();
        try {
            if (followsLinks) {
                target = followed(target);
            }
            checkTarget();
            HiddenName.removeDead(target);
            begin();
            try (FileChannel channel = FileChannel.open(path(), StandardOpenOption.WRITE)) {
                while (first.hasRemaining()) {
                    channel.write(first);
                }
            }
        } catch (AccessDeniedException | FileAlreadyExistsException | ClosedChannelException e) {
            throw e;
        } catch (NoSuchFileException e) {
            throw leadsNowhere() ? absent(e) : failed("no file can be created in " + target.getParent(), e); // /proc
        } catch (FileSystemException e) {
            throw leadsNowhere() ? absent(e) : e;
        } catch (IOException e) { // of a full disk, without a name
            throw failed(e.getMessage(), e);
        }
    }

    private void begin() throws IOException {
        Path folder = Objects.requireNonNull(target.getParent());
        boolean posix = Files.getFileAttributeView(folder, PosixFileAttributeView.class) != null;
        Set<PosixFilePermission> mode = replaces && Files.exists(target) ? OWNER : permissions;
        unnamed = files().unnamed(folder, mode == null ? 0666 : bits(mode)).orElse(null);
        if (unnamed == null) {
            hidden = HiddenName.take(target);
            Files.createFile(
                    hidden.path(),
                    mode != null && posix
                            ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(mode)}
                            : new FileAttribute<?>[0]);
        }
        if (mode != null && mode != OWNER && posix) {
            // The kernel has applied the umask and the default ACL of the folder: what results is restored.
            granted = Files.getPosixFilePermissions(path());
            KeptAttributes.grant(path(), target, OWNER);
        }
    }

    private static int bits(Set<PosixFilePermission> permissions) {
        int mode = 0;
        for (PosixFilePermission bit : PosixFilePermission.values()) { // from the highest
            mode = (mode << 1) | (permissions.contains(bit) ? 1 : 0);
        }
        return mode;
    }

    /** Returns a message with the name of the target, where it has the {@link #path}. */
    public synchronized String named(String message) {
        return unnamed == null && hidden == null ? message : message.replace(path().toString(), target.toString());
    }

    /** Returns the same error with the name of the target, where the {@link #path} is in its message. */
    private synchronized Throwable named(Throwable e) {
        String told = named(String.valueOf(e.getMessage()));
        if (told.equals(String.valueOf(e.getMessage()))) {
            return e;
        }
        if (e instanceof FileSystemException file) {
            return failed(file.getReason(), file);
        }
        if (!(e instanceof PenstockException known)) {
            return e;
        }
        Failure facts = new Failure(known.outcome(), known.nativeError().orElse(null), known.bytes());
        if (known instanceof TransientStorageException) {
            return new TransientStorageException(told, facts, e);
        }
        return known instanceof PermanentStorageException ? new PermanentStorageException(told, facts, e) : e;
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
        try { // which throws for a name that is too long
            Files.readAttributes(target, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
            if (!replaces) {
                throw new FileAlreadyExistsException(target.toString());
            }
        } catch (NoSuchFileException e) {
            return;
        }
        if (!isReplaceable(target)) {
            throw new AccessDeniedException(target.toString(), null, ONLY_FILES);
        }
    }

    /**
     * Throws if something is there that a file must not replace.
     *
     * @throws FileSystemException if it is no regular file
     */
    public static void checkReplaceable(Path target) throws FileSystemException {
        if (!isReplaceable(target)) {
            throw new FileSystemException(target.toString(), null, ONLY_FILES);
        }
    }

    /** Returns false for a folder, or for /dev/null, which root can lose, also behind a link. */
    private static boolean isReplaceable(Path target) {
        return !Files.exists(target) || Files.isRegularFile(target);
    }

    /**
     * Returns true if there can be no file at the path, because of a file in place of a folder on the way, or of a name
     * that is too long: the file system reports both in words alone.
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

    /** Gives the file its name, whose bytes must be durable: readers see the old file or this one. */
    public synchronized void commit() throws IOException {
        name();
        DirectorySync.force(Objects.requireNonNull(target.getParent()));
    }

    /** As {@link #commit}, but the name is durable only once the caller has synced the folder. */
    public synchronized void name() throws IOException {
        checkWanted();
        if (replaces && Files.exists(target)) {
            KeptAttributes.copy(target, path(), files());
        } else if (granted != null) {
            KeptAttributes.grant(path(), target, granted);
        }
        if (!replaces) {
            link();
        } else {
            if (unnamed != null) { // after a kill between here and the move, the next writer removes this name
                hidden = HiddenName.take(target);
                unnamed.link(hidden.path());
            }
            Files.move(Objects.requireNonNull(hidden).path(), target, StandardCopyOption.ATOMIC_MOVE);
        }
        close();
    }

    /** A move would replace a file created there meanwhile; a link does not. */
    private void link() throws IOException {
        if (unnamed != null) {
            unnamed.link(target);
            return;
        }
        Path part = Objects.requireNonNull(hidden).path();
        try {
            Files.createLink(target, part);
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (FileSystemException | UnsupportedOperationException noHardLinks) {
            if (Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
                throw new FileAlreadyExistsException(target.toString());
            }
            Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    /** Frees the file unless it has its name; a second call does nothing. */
    @Override
    public synchronized void close() throws IOException {
        over = true;
        if (unnamed != null) {
            unnamed.close();
            unnamed = null;
        }
        if (atExit != null && atExit != Thread.currentThread()) {
            try {
                Runtime.getRuntime().removeShutdownHook(atExit);
            } catch (IllegalStateException exiting) {
                // it runs, and finds nothing to do
            }
            atExit = null;
        }
        if (hidden != null) {
            hidden.close();
        }
    }

    private void checkWanted() throws ClosedChannelException {
        if (over) {
            throw new ClosedChannelException();
        }
    }
}
