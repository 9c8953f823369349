// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.opencl.context.ClContext;
import io.penstock.backend.opencl.fakes.SsgFake;
import io.penstock.backend.opencl.ffi.OpenCl;
import io.penstock.backend.opencl.paths.OpenClProvider;
import io.penstock.engine.testing.FakeControl;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/** A backend on the fake of AMD's driver, whose commands a test counts, holds and has fail. */
final class SsgFixture implements AutoCloseable {

    static final Duration LONG = Duration.ofSeconds(20);
    static final String READ = "clEnqueueReadSsgFileAMD";
    static final String WRITE = "clEnqueueWriteSsgFileAMD";

    /** Persistent memory for one staging buffer of the ring and 1 MiB of buffers; segments of 64 KiB. */
    static final Options OPTIONS = Options.none()
            .with(OpenClOptions.PATH, OpenClPath.SSG)
            .with(OpenClOptions.SSG_SEGMENT_BYTES, 64L << 10)
            .with(OpenClOptions.SSG_RING_BYTES, 128L << 10)
            .with(OpenClOptions.PERSISTENT_BYTES, (1L << 20) + (128L << 10));

    /** No persistent memory but the ring's. */
    static final Options RING = OPTIONS.with(OpenClOptions.PERSISTENT_BYTES, 128L << 10);

    final FakeControl control = SsgFake.control();
    final ClContext context;
    private final Backend backend;

    private SsgFixture(Options options) {
        Options resolved = options.resolve(Backends.options());
        context = ClContext.open(resolved);
        backend = new OpenClProvider().open(resolved);
    }

    static SsgFixture open(Options options) {
        return new SsgFixture(options);
    }

    Backend backend() {
        return backend;
    }

    static Path folder() throws IOException {
        return Files.createDirectories(Path.of("target", "ssg"));
    }

    static Path write(String name, byte[] content) throws IOException {
        return Files.write(folder().resolve(name), content);
    }

    StorageFile file(Path path, FileOption... options) {
        return Objects.requireNonNull(backend.openFile(path, options).block(LONG));
    }

    StorageFile file(String name, byte[] content) throws IOException {
        return file(write(name, content), FileOption.READ);
    }

    DeviceBuffer buffer(long bytes) {
        return Objects.requireNonNull(backend.allocate(bytes).block(LONG));
    }

    DeviceBuffer filled(byte[] content) {
        DeviceBuffer buffer = buffer(content.length);
        buffer.upload(0, ByteBuffer.wrap(content)).block(LONG);
        return buffer;
    }

    /** Makes a cl_mem as an application might. */
    long memory(long flags, long bytes) {
        int[] error = new int[1];
        long made = OpenCl.clCreateBuffer(context.handle(), flags, bytes, 0, error);
        assertThat(error[0]).isZero();
        return made;
    }

    Completion run(Transfer transfer) {
        return Objects.requireNonNull(backend.submit(transfer).block(LONG));
    }

    /** Reads all of a file into a buffer of its length. */
    Completion read(StorageFile file, DeviceBuffer buffer) {
        return run(Transfer.read(file.region(0, buffer.length()), buffer.all()));
    }

    /** Makes an event that the test signals, as an application's. */
    long userEvent() {
        int[] error = new int[1];
        long event = OpenCl.clCreateUserEvent(context.handle(), error);
        assertThat(error[0]).isZero();
        return event;
    }

    @Override
    public void close() {
        backend.close();
        context.leave();
        for (String kind : new String[] {"files", "buffers", "events", "queues", "contexts"}) {
            control.awaitLive(kind, 0); // the last buffers go on a thread of their own
        }
    }
}
