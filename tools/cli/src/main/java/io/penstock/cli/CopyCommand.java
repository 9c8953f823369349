// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Pack;
import io.penstock.PenstockException;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.file.PartFile;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.LongConsumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import reactor.core.publisher.Mono;

/** {@code penstock copy}: any file, through device memory, into a new file. */
@Command(
        name = "copy",
        description = "Copies a file, or the files of a folder, through device memory, and prints the I/O path.")
final class CopyCommand implements Callable<Integer> {

    private static final int MOST_PARTS = 10_000; // of an object
    private static final String PART_BYTES = "penstock.s3.part-bytes";

    /** U+FFFD is in place of bytes that are not UTF-8. */
    private static final Pattern FILE_NAME = Pattern.compile("(?!\\.{1,2}$)[^/\\\\\\x00\uFFFD]+");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            index = "0",
            paramLabel = "SRC",
            converter = FileName.class,
            description = "A path, also of a folder, or a URL.")
    private Path source = Path.of("");

    @Parameters(
            index = "1",
            paramLabel = "DST",
            converter = FileName.class,
            description = "A file, a folder for a file of SRC's name, or an s3: URL.")
    private Path destination = Path.of("");

    @Option(
            names = "--path",
            paramLabel = "PATH",
            description =
                    "Uses this path, or fails before any byte is moved: direct, mapped, compat, staged, host, remote, or"
                            + " a value of the backend's own option, such as batch for cufile or map for opencl-ssg.")
    private @Nullable String path;

    @Option(
            names = "--chunk",
            paramLabel = "BYTES",
            defaultValue = "8MiB",
            converter = ByteSize.class,
            description = "Bytes per transfer; four are in flight (default: 8MiB).")
    private long chunkBytes;

    @Option(
            names = "--jobs",
            paramLabel = "FILES",
            defaultValue = "64",
            description = "Of a folder: how many small files are opened and read at a time (default: 64).")
    private int jobs = 64;

    @Option(names = "--verify", description = "Reads both files again and prints their SHA-256 sums.")
    private boolean verify;

    @Option(names = "--force", description = "Replaces DST if it exists.")
    private boolean force;

    @Mixin
    private BackendChoice choice = new BackendChoice();

    private final Progress progress = new Progress();

    @Override
    public Integer call() throws IOException {
        if (!FileName.isRemote(destination) && Files.isDirectory(destination)) {
            destination = fileIn(destination);
        }
        Variant variant = choice.variant(path);
        if (!isForeign() && Files.isDirectory(source)) {
            return copyFolder(variant);
        }
        check();
        boolean uploads = FileName.isRemote(destination);
        boolean sized = uploads && !choice.ownsFile(source);
        Options options = sized ? sized(variant.options(), Files.size(source)) : variant.options();
        try (PartFile local = uploads ? null : PartFile.create(destination, force, permissions());
                Backend backend = choice.open(options)) {
            DataExtents extents = extents(backend, uploads);
            Path target = destination;
            if (local != null) {
                checkSpace(extents.dataBytes());
                local.leftByKill().ifPresent(this::warn);
                target = local.path();
            }
            DeviceCopy copy = new DeviceCopy(backend, chunkBytes, variant.path(), created(uploads));
            DeviceCopy.Result result = run(copy, extents, target);
            String sums = verify ? sums(target) : "";
            if (local != null) {
                local.commit();
            }
            progress.clear();
            PrintWriter out = spec.commandLine().getOut();
            out.println("copied " + result.bytes() + " bytes to " + TextTable.plain(destination.toString())
                    + holes(result) + Progress.at(result.moved(), result.nanos()) + ", path " + result.paths()
                    + ", backend " + backend.name());
            out.print(sums);
            out.flush();
            return 0;
        } finally {
            progress.clear();
        }
    }

    private int copyFolder(Variant variant) throws IOException {
        if (FileName.isRemote(destination) || verify || path != null) {
            throw new IOException(source + " is a directory: it is copied to a folder of this machine, without --verify"
                    + " and --path");
        }
        if (real(destination.toAbsolutePath()).startsWith(source.toRealPath())) {
            throw new IOException(source + " is a directory, and " + destination + " would lie in it");
        }
        PrintWriter err = spec.commandLine().getErr();
        Pack.Plan plan = Pack.Plan.DEFAULT.inFlight(jobs);
        try (Backend backend = choice.open(variant.options())) {
            Path from = Files.isSymbolicLink(source) ? source.toRealPath() : source; // which would be copied as a link
            FolderCopy copy = new FolderCopy(from, destination, force, why -> err.println("penstock: " + why));
            FolderCopy.Result result = copy.run(backend, plan, (file, to) -> copyLarge(backend, file, to));
            PrintWriter out = spec.commandLine().getOut();
            out.println("copied " + result.files() + " files of " + result.bytes() + " bytes to "
                    + TextTable.plain(destination.toString()) + Progress.at(result.bytes(), result.nanos())
                    + ", backend " + backend.name());
            if (result.failed() > 0) {
                err.println("penstock: " + result.failed() + " files were not copied");
            }
            out.flush();
            err.flush();
            return result.failed() == 0 ? 0 : 1;
        }
    }

    /** Returns a path without links, as far as it exists. */
    private static Path real(Path path) throws IOException {
        Path folder = path.getParent();
        return folder == null || Files.exists(path)
                ? path.toRealPath()
                : real(folder).resolve(path.getFileName()).normalize();
    }

    private void copyLarge(Backend backend, Path from, Path to) throws IOException {
        try (PartFile part = PartFile.create(to, force, FolderCopy.permissions(from))) {
            new DeviceCopy(backend, chunkBytes, null, created(false))
                    .run(from, DataExtents.of(from), part.path(), (done, total, paths) -> {});
            part.commit();
        }
    }

    /** Returns the file of that name in a folder. The name in a URL is decoded: it may be a path, and lead elsewhere. */
    private Path fileIn(Path folder) throws IOException {
        boolean dots = !FileName.isRemote(source) && (source.endsWith("..") || source.endsWith("."));
        Path named = dots ? source.toRealPath() : source;
        String name = named.getFileName() == null ? "" : named.getFileName().toString();
        boolean safe = FILE_NAME.matcher(name).matches()
                && folder.equals(folder.resolve(name).getParent());
        if (FileName.isRemote(source) && !safe) {
            throw new IOException("'" + name + "', the name in " + source + ", cannot be the name of a file in "
                    + folder + "; name it: copy SRC " + folder.resolve("NAME"));
        }
        return folder.resolve(name).normalize();
    }

    /** Returns options with parts of an object so large that {@link #MOST_PARTS} have all of the file. */
    static Options sized(Options options, long bytes) {
        long least = (bytes / MOST_PARTS + (1L << 20)) >> 20 << 20;
        return Backends.options().stream()
                .filter(known -> known.name().equals(PART_BYTES))
                .filter(known -> options.resolve(Backends.options()).get(known) instanceof Long now && now < least)
                .findFirst()
                .map(known -> options.with(PART_BYTES, (least >> 20) + "MiB"))
                .orElse(options);
    }

    private DeviceCopy.Result run(DeviceCopy copy, DataExtents extents, Path target) throws IOException {
        try {
            return copy.run(
                    source,
                    extents,
                    target,
                    (done, total, paths) -> progress.step("path " + paths + ", copying " + source, done, total));
        } catch (RuntimeException e) { // which names a file without a name by its descriptor
            String why = Complaint.of(e).replace(target.toString(), destination.toString());
            if (e instanceof PenstockException) {
                throw new IOException("copy of " + source + " to " + destination + ": " + why, e);
            }
            if (why.equals(Complaint.of(e))) {
                throw e;
            }
            throw new IOException(why, e);
        }
    }

    private DataExtents extents(Backend backend, boolean whole) throws IOException {
        if (isForeign()) {
            return DataExtents.whole(size(backend, source));
        }
        return whole ? DataExtents.whole(Files.size(source)) : DataExtents.of(source);
    }

    /** Returns how the target is opened: a new file of this host exists already, under another name. */
    private FileOption[] created(boolean uploads) {
        if (!uploads) {
            return new FileOption[] {FileOption.WRITE};
        }
        return force
                ? new FileOption[] {FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE}
                : new FileOption[] {FileOption.WRITE, FileOption.CREATE_NEW};
    }

    private static String holes(DeviceCopy.Result result) {
        long holes = result.bytes() - result.moved();
        return holes == 0 ? "" : " (" + holes + " of them in holes)";
    }

    private void warn(Path leftByKill) {
        spec.commandLine()
                .getErr()
                .println("penstock: "
                        + (NativeAccess.refusal() == null
                                ? "this file system has no unnamed files"
                                : "without native access a new file has a name")
                        + ": if the copy is killed, "
                        + TextTable.plain(leftByKill.toString()) + " remains until DST is written again");
    }

    /** Returns whether the operating system cannot open the file: only the backend can, or it is on another host. */
    private boolean isForeign() {
        return choice.ownsFile(source) || FileName.isRemote(source);
    }

    /** Returns the size of a file, as the backend has it. */
    static long size(Backend backend, Path path) {
        return Objects.requireNonNull(
                backend.withFile(path, FileOption.READ, file -> Mono.just(file.size()))
                        .block(),
                "size");
    }

    private void check() throws IOException {
        if (FileName.isRemote(destination) && !FileName.isWritable(destination)) {
            throw new IOException("DST must be a path, or an s3: URL, was " + destination);
        }
        if (!FileName.isRemote(destination) && Files.exists(destination) && !Files.isRegularFile(destination)) {
            throw new IOException(destination + " is not a regular file");
        }
        if (!FileName.isRemote(destination) && !force) {
            SymbolicLink.refuse(destination);
        }
        if (!isForeign()) {
            checkSource();
        } else if (verify && !FileName.isRemote(source)) {
            throw new IOException("--verify needs a SRC that the operating system can read, was " + source);
        }
    }

    private void checkSource() throws IOException {
        if (!Files.exists(source)) {
            throw SymbolicLink.missing(source);
        }
        if (!Files.isRegularFile(source)) {
            throw new IOException(source + (Files.isDirectory(source) ? " is a directory" : " is not a regular file"));
        }
        if (!Files.isReadable(source)) {
            throw new IOException(source + ": permission denied");
        }
        if (!FileName.isRemote(destination) && Files.exists(destination) && Files.isSameFile(source, destination)) {
            throw new IOException(source + " and " + destination + " are the same file");
        }
    }

    private @Nullable Set<PosixFilePermission> permissions() throws IOException {
        if (isForeign()) {
            return null;
        }
        PosixFileAttributeView view = Files.getFileAttributeView(source, PosixFileAttributeView.class);
        return view == null ? null : view.readAttributes().permissions();
    }

    private void checkSpace(long bytes) throws IOException {
        FileStore disk = Files.getFileStore(PartFile.folder(destination));
        long free = disk.getUsableSpace();
        if (free < bytes && disk.getTotalSpace() > 0) { // both are 0 if the file system does not report them
            throw new IOException(
                    "disk full: " + destination + " needs " + bytes + " bytes, and " + free + " are free");
        }
    }

    private String sums(Path part) throws IOException {
        long bytes = 2 * Files.size(part);
        String sourceSum = sha256(source, done -> progress.step("verifying", done, bytes));
        String copySum = sha256(part, done -> progress.step("verifying", bytes / 2 + done, bytes));
        if (!sourceSum.equals(copySum)) {
            throw new IOException(
                    "the copy differs: SHA-256 of " + source + " is " + sourceSum + ", and of the copy " + copySum);
        }
        String line = System.lineSeparator();
        return "SHA-256 " + sourceSum + "  " + TextTable.plain(source.toString()) + line + "SHA-256 " + copySum + "  "
                + TextTable.plain(destination.toString()) + line;
    }

    /** Computed with the JDK alone, so that Penstock does not verify itself. */
    private static String sha256(Path path, LongConsumer progress) throws IOException {
        byte[] bytes = new byte[1 << 18];
        long done = 0;
        try (InputStream in = Files.newInputStream(path)) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                digest.update(bytes, 0, read);
                done += read;
                progress.accept(done);
            }
            return HexFormat.of().formatHex(digest.digest());
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
