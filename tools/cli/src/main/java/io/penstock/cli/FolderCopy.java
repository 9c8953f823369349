// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.Pack;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;

/**
 * Copies the files of a folder: small ones many at a time, packed in device memory, and the others one by one. Links are
 * copied as links, and nothing is written through a link of the target. A file that cannot be copied is reported, and the
 * others are copied. A file that not everybody may read is never readable by others, nor is a new folder before the end.
 */
final class FolderCopy {

    /** Copies a file that is larger than a pack. */
    interface LargeFiles {
        void copy(Path source, Path target) throws IOException;
    }

    /**
     * The result of a copy.
     *
     * @param bytes the bytes of all files that were copied
     */
    record Result(long files, long bytes, long failed, long nanos) {}

    private static final FileAttribute<Set<PosixFilePermission>> OWNER_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));
    private static final Set<PosixFilePermission> READ_BY_ALL =
            Set.of(PosixFilePermission.GROUP_READ, PosixFilePermission.OTHERS_READ);

    private final Path from;
    private final Path to;
    private final boolean force;
    private final Consumer<String> complaints;
    private final List<Path> small = new ArrayList<>();
    private final List<Path> large = new ArrayList<>(); // and such as others may not read
    private final Map<Path, Set<PosixFilePermission>> permissions = new HashMap<>(); // by source
    private final List<Path> made = new ArrayList<>(); // sources of folders that are new
    private long files;
    private long bytes;
    private long failed;

    FolderCopy(Path from, Path to, boolean force, Consumer<String> complaints) {
        this.from = from;
        this.to = to;
        this.force = force;
        this.complaints = complaints;
    }

    Result run(Backend backend, Pack.Plan plan, LargeFiles others) throws IOException {
        long start = System.nanoTime();
        try {
            copyAll(backend, plan, others);
        } finally {
            openFolders();
        }
        return new Result(files, bytes, failed, System.nanoTime() - start);
    }

    private void copyAll(Backend backend, Pack.Plan plan, LargeFiles others) throws IOException {
        Files.walkFileTree(from, new Visitor(plan.packBytes()));
        Flux<Pack> packs = backend.pack(Flux.fromIterable(small), plan).map(pack -> pack.at(this::target));
        Pack.Writing writing = Pack.Writing.DEFAULT.sync();
        backend.unpack(packs, force ? writing.replacing() : writing)
                .doOnNext(this::written)
                .blockLast();
        for (Path path : large) {
            try {
                others.copy(path, target(path));
                copied(target(path), Files.size(path));
            } catch (IOException e) {
                complain(e);
            } catch (RuntimeException e) { // of a transfer, or of a file that has changed
                complain(Exceptions.unwrap(e) instanceof Exception cause ? cause : e);
            }
        }
    }

    /** Gives new folders the permissions of their sources, which only their owner could enter until now. */
    private void openFolders() {
        for (int i = made.size() - 1; i >= 0; i--) {
            try {
                Set<PosixFilePermission> wanted = permissions(made.get(i));
                if (wanted != null) {
                    Files.setPosixFilePermissions(target(made.get(i)), wanted);
                }
            } catch (IOException e) {
                complain(e);
            }
        }
    }

    /** Returns the permissions of a file; null where files have none. */
    static @Nullable Set<PosixFilePermission> permissions(Path file) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        return view == null ? null : view.readAttributes().permissions();
    }

    private Path target(Path path) {
        return to.resolve(from.relativize(path));
    }

    private void written(Pack.Entry entry) {
        Exception error = entry.error();
        if (error != null) {
            complain(error);
            return;
        }
        try {
            copied(entry.path(), entry.length());
        } catch (IOException e) {
            complain(e);
        }
    }

    /** Notes a file, and gives it the permissions of its source, if a new file has others. */
    private void copied(Path copy, long length) throws IOException {
        files++;
        bytes += length;
        Set<PosixFilePermission> wanted = permissions.get(from.resolve(to.relativize(copy)));
        if (wanted != null && !wanted.equals(Files.getPosixFilePermissions(copy))) {
            Files.setPosixFilePermissions(copy, wanted);
        }
    }

    private void complain(Exception why) {
        failed++;
        complaints.accept(Complaint.of(why));
    }

    /** Creates folders and links, and lists files. */
    private final class Visitor extends SimpleFileVisitor<Path> {

        private final long smallBytes;

        Visitor(long smallBytes) {
            this.smallBytes = smallBytes;
        }

        @Override
        public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) throws IOException {
            Path copy = target(folder);
            try {
                if (!folder.equals(from) && Files.isSymbolicLink(copy)) {
                    throw new FileSystemException(copy.toString(), null, "is a link: nothing is written through it");
                }
                if (!Files.isDirectory(copy)) {
                    make(copy, folder);
                }
                return FileVisitResult.CONTINUE;
            } catch (IOException e) {
                if (folder.equals(from)) {
                    throw e;
                }
                complain(e);
                return FileVisitResult.SKIP_SUBTREE;
            }
        }

        private void make(Path copy, Path folder) throws IOException {
            Path parent = copy.toAbsolutePath().getParent();
            if (parent != null) {
                Files.createDirectories(parent);
            }
            if (permissions(folder) == null) {
                Files.createDirectory(copy);
            } else {
                Files.createDirectory(copy, OWNER_ONLY);
            }
            made.add(folder);
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            if (attributes.isSymbolicLink()) {
                link(file);
            } else {
                note(file, attributes.size());
            }
            return FileVisitResult.CONTINUE;
        }

        private void note(Path file, long size) {
            try {
                Set<PosixFilePermission> its = permissions(file);
                boolean open = its == null || its.containsAll(READ_BY_ALL);
                if (its != null) {
                    permissions.put(file, its);
                }
                (open && size <= smallBytes ? small : large).add(file);
            } catch (IOException e) {
                complain(e);
            }
        }

        private void link(Path file) {
            try {
                if (force) {
                    Files.deleteIfExists(target(file));
                }
                Files.copy(file, target(file), LinkOption.NOFOLLOW_LINKS);
                files++;
            } catch (IOException e) { // such as one that is there, or a file system without links
                complain(e);
            }
        }

        @Override
        public FileVisitResult visitFileFailed(Path file, IOException why) {
            complain(why);
            return FileVisitResult.CONTINUE;
        }
    }
}
