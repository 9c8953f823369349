// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static io.penstock.engine.testing.BackendFixture.await;
import static io.penstock.engine.testing.BackendFixture.get;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.paths.CufileProvider;
import io.penstock.backend.cufile.report.CuFileLibrary;
import io.penstock.backend.gpu.file.FileHandles;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;

/** What tests of one way of cuFile's have in common: a backend over the fakes, and files in a folder of the build. */
final class CuFileBench implements AutoCloseable {

    static final Duration LONG = Duration.ofSeconds(20);

    final FakeControl cufile = Fakes.cufile();
    final FakeControl cuda = Fakes.cuda();
    private final Path folder;
    private final Backend backend;
    private int files;

    private CuFileBench(Path folder, Backend backend) {
        this.folder = folder;
        this.backend = backend;
    }

    static CuFileBench open(CufilePath variant) throws IOException {
        return open(CuFileFake.options(variant));
    }

    static CuFileBench open(Options options) throws IOException {
        return open(options, CuFileFake::nvme);
    }

    /** As above, with an answer to what files lie on. */
    static CuFileBench open(Options options, CuFileLibrary.Storages storages) throws IOException {
        // Of the build: on a disk, where /tmp may be memory.
        Path base = Files.createDirectories(Path.of("target", "cufile"));
        Backend backend = new CufileProvider().open(options.resolve(Backends.options()), storages);
        return new CuFileBench(Files.createTempDirectory(base, "bench"), backend);
    }

    /** Opens a backend for which every disk is one that cuFile reaches. */
    static Backend backend(Options options) {
        return new CufileProvider().open(options.resolve(Backends.options()), CuFileFake::nvme);
    }

    Backend backend() {
        return backend;
    }

    static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }

    Path path(byte[] content) throws IOException {
        return path("file", content);
    }

    /** Makes a file whose name begins so: "far" is on a disk that cuFile does not reach. */
    Path path(String name, byte[] content) throws IOException {
        return Files.write(folder.resolve(name + files++), content);
    }

    /** Makes a file to be read. */
    StorageFile file(byte[] content) throws IOException {
        return open(path(content));
    }

    /** Makes a file to be read and written. */
    StorageFile writable(byte[] content) throws IOException {
        return get(backend.openFile(path(content), FileOption.READ, FileOption.WRITE));
    }

    StorageFile open(Path path) {
        return get(backend.openFile(path));
    }

    DeviceBuffer buffer(long bytes) {
        return get(backend.allocate(bytes));
    }

    /** Makes a buffer with content. */
    DeviceBuffer buffer(byte[] content) {
        DeviceBuffer buffer = buffer(content.length);
        get(buffer.upload(0, ByteBuffer.wrap(content)));
        return buffer;
    }

    Completion move(Transfer transfer) {
        return get(backend.submit(transfer));
    }

    /** Starts one transfer, and another behind its fence. */
    CompletableFuture<Completion> behind(Transfer first, Transfer second) {
        return backend.enqueue(first)
                .flatMap(fence -> backend.submit(second.after(fence)).doFinally(signal -> fence.close()))
                .toFuture();
    }

    /** Closes everything, and looks whether anything is left. */
    @Override
    public void close() throws IOException {
        backend.close();
        try (var left = Files.list(folder)) {
            for (Path file : left.toList()) {
                Files.delete(file);
            }
        }
        Files.delete(folder);
        await(() -> LiveObjects.count(FileHandles.class) == 0); // the I/O queue closes files of cancelled transfers
        CuFileLeft.assertNothing();
    }
}
