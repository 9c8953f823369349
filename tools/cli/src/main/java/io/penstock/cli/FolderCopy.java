// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.Pack;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import reactor.core.publisher.Flux;

/**
 * Copies the files of a folder: small ones many at a time, packed in device memory, and the others one by one. Links are
 * copied as links. A file that cannot be copied is reported, and the others are copied.
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

    private final Path from;
    private final Path to;
    private final boolean force;
    private final Consumer<String> complaints;
    private final List<Path> small = new ArrayList<>();
    private final List<Path> large = new ArrayList<>();
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
            }
        }
        return new Result(files, bytes, failed, System.nanoTime() - start);
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
        Path source = from.resolve(to.relativize(copy));
        if (Files.getFileAttributeView(source, PosixFileAttributeView.class) != null) {
            Set<PosixFilePermission> wanted = Files.getPosixFilePermissions(source);
            if (!wanted.equals(Files.getPosixFilePermissions(copy))) {
                Files.setPosixFilePermissions(copy, wanted);
            }
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
            Files.createDirectories(target(folder));
            return FileVisitResult.CONTINUE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            if (attributes.isSymbolicLink()) {
                link(file);
            } else {
                (attributes.size() > smallBytes ? large : small).add(file);
            }
            return FileVisitResult.CONTINUE;
        }

        private void link(Path file) throws IOException {
            try {
                if (force) {
                    Files.deleteIfExists(target(file));
                }
                Files.copy(file, target(file), LinkOption.NOFOLLOW_LINKS);
                files++;
            } catch (FileAlreadyExistsException e) {
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
