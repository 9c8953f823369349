// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.StorageFile;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import reactor.core.publisher.Flux;

/**
 * A program that reads a file, its first block or its arrays to the GPU, reports it and exits: the cost of starting.
 */
public final class FirstByte {

    private static final int BLOCK = 4096;
    private static final long TENSOR_BYTES = 48L << 20;

    /** The second argument for all arrays of the file. */
    static final String ARRAYS = "arrays";

    private FirstByte() {}

    /**
     * Reads the first block of the file that the argument names, or as many bytes as the second argument says, or its
     * arrays; then the third is the number of files that the arrays are in, and a fourth bypasses the page cache.
     */
    public static void main(String[] arguments) {
        long start = System.nanoTime();
        Backend backend = Backends.open("cufile");
        long opened = System.nanoTime();
        if (arguments.length > 1 && arguments[1].equals(ARRAYS)) {
            Loader loader = Loader.of(backend);
            loader = arguments.length > 3 ? loader.fileOptions(FileOption.READ, FileOption.DIRECT) : loader;
            LoadedArrays arrays = loader.load(Path.of(arguments[0])).block();
            long loaded = System.nanoTime();
            check(arrays, Integer.parseInt(arguments[2]));
            exit("open %.1f ms, load %.1f ms, %s", (opened - start) / 1e6, (loaded - opened) / 1e6, arrays.paths());
        }
        StorageFile file = backend.openFile(Path.of(arguments[0])).block();
        long fileOpened = System.nanoTime();
        long bytes = arguments.length > 1 ? Long.parseLong(arguments[1]) : BLOCK;
        DeviceBuffer buffer = backend.allocate(bytes).block();
        long allocated = System.nanoTime();
        Completion completion = read(backend, file, buffer);
        long read = System.nanoTime();
        check(buffer, 0, 0);
        check(buffer, bytes - BLOCK, bytes - BLOCK);
        exit(
                "open %.1f ms, file %.1f ms, memory %.1f ms, read %.1f ms, %s",
                (opened - start) / 1e6,
                (fileOpened - opened) / 1e6,
                (allocated - fileOpened) / 1e6,
                (read - allocated) / 1e6,
                completion.path());
    }

    private static void exit(String times, Object... arguments) {
        System.out.printf(Locale.ROOT, "first byte: " + times + "%n", arguments);
        System.out.flush();
        Runtime.getRuntime().halt(0); // the time to unload libraries does not count
    }

    private static Completion read(Backend backend, StorageFile file, DeviceBuffer buffer) {
        List<Transfer> transfers = new ArrayList<>();
        for (long at = 0; at < buffer.length(); at += TENSOR_BYTES) {
            long length = Math.min(TENSOR_BYTES, buffer.length() - at);
            transfers.add(Transfer.read(file.region(at, length), buffer.region(at, length)));
        }
        return backend.submit(Flux.fromIterable(transfers), SubmitOptions.DEFAULT)
                .blockLast();
    }

    /** The first block of the first array, and the last of the last: each file has the content of the test file. */
    private static void check(LoadedArrays arrays, int files) {
        List<DeviceArray> all = arrays.arrays();
        DeviceArray last = all.get(all.size() - 1);
        check(all.get(0).region().buffer(), all.get(0).region().offset(), 0);
        check(last.region().buffer(), last.region().offset() + last.bytes() - BLOCK, arrays.bytes() / files - BLOCK);
    }

    private static void check(DeviceBuffer buffer, long at, long place) {
        ByteBuffer back = ByteBuffer.allocateDirect(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
        buffer.download(at, back).block();
        if (back.getLong(8) != TestFile.word(place + 8)) {
            throw new IllegalStateException("wrong bytes at " + at);
        }
    }
}
