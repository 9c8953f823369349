// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransferPath;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Locale;
import java.util.Random;

/**
 * A program that writes a file from device memory and reads it back by each kind of calls of a hipFile that is built over
 * cuFile, in a process of its own: AMD's library under this binding, on a machine with an NVIDIA GPU.
 */
final class OverCuda {

    private static final int BYTES = 16 << 20;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private OverCuda() {}

    /** Arguments: the files of libcuda and of libhipfile, a folder, and paths. */
    public static void main(String[] arguments) throws Exception {
        byte[] content = new byte[BYTES];
        new Random(20_261_130).nextBytes(content);
        for (String path : Arrays.copyOfRange(arguments, 3, arguments.length)) {
            Path file = Files.createTempFile(Path.of(arguments[2]), "over-cuda", ".bin");
            try {
                run(options(arguments, path), file, content);
            } finally {
                Files.delete(file);
            }
        }
    }

    private static Options options(String[] arguments, String path) {
        return Options.none()
                .with(HipOptions.RUNTIME, HipRuntime.CUDA)
                .with(HipOptions.LIBAMDHIP64, arguments[0])
                .with(HipOptions.LIBHIPFILE, arguments[1])
                .with(HipOptions.ALLOW_COMPAT, true)
                .with(HipOptions.PATH, HipPath.valueOf(path.toUpperCase(Locale.ROOT)));
    }

    private static void run(Options options, Path file, byte[] content) {
        try (Backend backend = Backends.open("hip", options);
                StorageFile opened = backend.openFile(file, FileOption.READ, FileOption.WRITE)
                        .block(LIMIT);
                DeviceBuffer source = backend.allocate(BYTES).block(LIMIT);
                DeviceBuffer target = backend.allocate(BYTES).block(LIMIT)) {
            source.upload(0, ByteBuffer.wrap(content)).block(LIMIT);
            Completion written = backend.submit(Transfer.write(source.all(), opened.region(0, BYTES)))
                    .block(LIMIT);
            Completion read = backend.submit(Transfer.read(opened.region(0, BYTES), target.all()))
                    .block(LIMIT);
            byte[] back = new byte[BYTES];
            target.download(0, ByteBuffer.wrap(back)).block(LIMIT);
            boolean same = Arrays.equals(content, back);
            System.out.println(options.get(HipOptions.PATH) + ": wrote " + written.bytes() + " by "
                    + written.path() + ", read " + read.bytes() + " by " + read.path()
                    + (same ? ", equal" : ", NOT EQUAL")
                    + (read.path() == TransferPath.STAGED ? ": " + read.reason() : ""));
            if (!same) {
                throw new IllegalStateException("the bytes that were read are not those that were written");
            }
        }
    }
}
