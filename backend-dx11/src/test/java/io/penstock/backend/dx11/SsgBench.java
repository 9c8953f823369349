// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.dx11.paths.Dx11Provider;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;

/** A backend on the fake of AMD's driver and on the device of this machine, with files in one folder. */
final class SsgBench implements AutoCloseable {

    static final Duration PATIENCE = Duration.ofSeconds(30);

    private final Path folder;
    private final Backend backend;

    SsgBench(Path folder, Options options) {
        this.folder = folder;
        this.backend = new Dx11Provider().open(Dx11s.resolved(options.with(Dx11Options.DEVICE, Dx11s.sharedDevice())));
    }

    Backend backend() {
        return backend;
    }

    StorageFile file(String name, byte[] content) throws IOException {
        Path path = Files.write(folder.resolve(name), content);
        return Objects.requireNonNull(
                backend.openFile(path, FileOption.READ, FileOption.WRITE).block(PATIENCE));
    }

    DeviceBuffer buffer(long bytes) {
        return Objects.requireNonNull(backend.allocate(bytes).block(PATIENCE));
    }

    DeviceBuffer filled(byte[] content) {
        DeviceBuffer buffer = buffer(content.length);
        buffer.upload(0, ByteBuffer.wrap(content)).block(PATIENCE);
        return buffer;
    }

    Completion run(Transfer transfer) {
        return Objects.requireNonNull(backend.submit(transfer).block(PATIENCE));
    }

    @Override
    public void close() {
        backend.close();
    }
}
