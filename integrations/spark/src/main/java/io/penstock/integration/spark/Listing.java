// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileSystems;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * Lists the files of a source, sorted. As in Spark's own sources, files and directories whose names start with
 * {@code _} or {@code .} are left out. A directory that is an array of Zarr counts as a file. Links are followed, but
 * not back into where they lie.
 */
final class Listing {

    private static final Set<String> ZARR = Set.of("zarr.json", ".zgroup", ".zarray");

    private Listing() {}

    static List<Path> of(SourceOptions options) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Path path : options.paths()) {
            if (!Files.isDirectory(path) || !options.raw() && isArray(path)) {
                if (!Files.exists(path)) {
                    throw new NoSuchFileException(path.toString());
                }
                files.add(path);
            } else {
                Files.walkFileTree(
                        path,
                        EnumSet.of(FileVisitOption.FOLLOW_LINKS),
                        options.recursive() ? Integer.MAX_VALUE : 2,
                        new Visitor(path, options, files));
            }
        }
        Collections.sort(files);
        return files;
    }

    private static boolean isArray(Path directory) {
        return ZARR.stream().anyMatch(name -> Files.exists(directory.resolve(name)));
    }

    private static final class Visitor extends SimpleFileVisitor<Path> {

        private final Path root;
        private final SourceOptions options;
        private final List<Path> files;
        private final PathMatcher wanted;

        Visitor(Path root, SourceOptions options, List<Path> files) {
            this.root = root;
            this.options = options;
            this.files = files;
            String glob = options.nameGlob() == null ? "*" : options.nameGlob();
            this.wanted = FileSystems.getDefault().getPathMatcher("glob:" + glob);
        }

        private static boolean isHidden(Path path) {
            String name = String.valueOf(path.getFileName());
            return name.startsWith("_") || name.startsWith(".");
        }

        private void add(Path path) {
            if (wanted.matches(path.getFileName())) {
                files.add(path);
            }
        }

        @Override
        public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
            if (directory.equals(root)) {
                return FileVisitResult.CONTINUE;
            }
            if (isHidden(directory)) {
                return FileVisitResult.SKIP_SUBTREE;
            }
            if (!options.raw() && isArray(directory)) {
                add(directory);
                return FileVisitResult.SKIP_SUBTREE;
            }
            return options.recursive() ? FileVisitResult.CONTINUE : FileVisitResult.SKIP_SUBTREE;
        }

        @Override
        public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
            // A directory at the greatest depth comes here, too.
            if (!isHidden(file) && Files.isRegularFile(file)) {
                add(file);
            }
            return FileVisitResult.CONTINUE;
        }

        /** A file that another process removed or renamed meanwhile is not listed, nor a directory within itself. */
        @Override
        public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
            if (failure instanceof NoSuchFileException || failure instanceof FileSystemLoopException) {
                return FileVisitResult.CONTINUE;
            }
            if (failure instanceof AccessDeniedException && !file.equals(root) && isLeftOut(file)) {
                return FileVisitResult.CONTINUE;
            }
            throw failure;
        }

        /** Returns whether no file of a directory would be read, so that it need not be readable. */
        private boolean isLeftOut(Path directory) {
            return isHidden(directory) || !options.recursive() && (options.raw() || !isArray(directory));
        }
    }
}
