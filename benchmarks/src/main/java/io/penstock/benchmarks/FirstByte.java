// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Locale;

/** A program that reads the first block of a file to the GPU, reports it and exits: the cost of starting. */
public final class FirstByte {

    private static final int BLOCK = 4096;

    private FirstByte() {}

    /** Reads the first block of the file that the argument names. */
    public static void main(String[] arguments) {
        long start = System.nanoTime();
        Backend backend = Backends.open("cufile");
        long opened = System.nanoTime();
        StorageFile file = backend.openFile(Path.of(arguments[0])).block();
        DeviceBuffer buffer = backend.allocate(BLOCK).block();
        Completion completion = backend.submit(Transfer.read(file.region(0, BLOCK), buffer.all()))
                .block();
        long read = System.nanoTime();
        ByteBuffer back = ByteBuffer.allocateDirect(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
        buffer.download(0, back).block();
        if (back.getLong(8) != TestFile.word(8)) {
            throw new IllegalStateException("wrong bytes");
        }
        System.out.printf(
                Locale.ROOT,
                "first byte: open %.1f ms, read %.1f ms, %s%n",
                (opened - start) / 1e6,
                (read - opened) / 1e6,
                completion.path());
        System.out.flush();
        Runtime.getRuntime().halt(0); // the time to unload libraries does not count
    }
}
