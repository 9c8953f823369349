// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.uring.CompletionHandler;
import io.penstock.engine.host.uring.Ring;
import io.penstock.engine.host.uring.RingOptions;
import io.penstock.engine.host.uring.SubmissionQueue;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * The ring that Penstock uses, without Penstock, over the files of {@link ManyFiles}: the cost of many files in the
 * kernel alone. They are registered in the ring's table and need no descriptors, of which a process does not have
 * enough for all contenders; with descriptors there is no measurable difference.
 */
final class BareRingFiles implements Contender {

    private static final int CHECKED = 100;

    private final int depth;
    private final Slab memory; // twice as many blocks as reads in flight, used in turn
    private final int files;
    private final Ring ring;
    private long next;
    private int inFlight;

    BareRingFiles(Path parent, Order order) throws IOException {
        depth = order.count("depth");
        files = order.count("count");
        memory = Slabs.shared().allocate((long) 2 * depth * ManyFiles.BYTES);
        List<Path> paths = ManyFiles.make(parent, files);
        ring = Ring.open(LinuxKernel.INSTANCE, RingOptions.ofEntries(depth));
        ring.registration().makeBufferTable(1);
        ring.registration().updateBuffer(0, memory.hostAddress(), memory.bytes());
        ring.registration().makeFileTable(files);
        for (int i = 0; i < files; i++) {
            register(i, paths.get(i));
        }
    }

    private void register(int chain, Path path) throws IOException {
        int descriptor = LibC.open((path + "\0").getBytes(StandardCharsets.UTF_8), LibC.O_RDONLY | LibC.O_CLOEXEC, 0);
        int answer = descriptor < 0 ? descriptor : ring.registration().updateFile(chain, descriptor);
        if (descriptor >= 0) {
            LibC.close(descriptor);
        }
        if (answer < 0) {
            throw new IOException("cannot open or register " + path + ": " + answer);
        }
    }

    @Override
    public Measure run(long nanos) throws Exception {
        return read(ManyFiles.READS);
    }

    private Measure read(int reads) throws Exception {
        CompletionHandler handler = (number, result, flags) -> ended(result);
        next = 0;
        return Measure.of(() -> {
            while (next < reads || inFlight > 0) {
                while (inFlight < depth && next < reads) {
                    begin(next++);
                }
                ring.submitAndWait();
                ring.reap(handler);
            }
            return reads;
        });
    }

    private void begin(long number) {
        int block = ManyFiles.block(number);
        int perFile = ManyFiles.BLOCKS / files;
        ring.submissions()
                .readFixed(
                        SubmissionQueue.FIXED_FILE,
                        block / perFile,
                        (long) (block % perFile) * ManyFiles.BYTES,
                        memory.hostAddress() + at(number),
                        ManyFiles.BYTES,
                        0,
                        number);
        inFlight++;
    }

    private long at(long number) {
        return number % (2L * depth) * ManyFiles.BYTES;
    }

    private void ended(int result) {
        if (result != ManyFiles.BYTES) {
            throw new IllegalStateException("a read of " + ManyFiles.BYTES + " bytes returned " + result);
        }
        inFlight--;
    }

    /** Reads some blocks once more and checks them: while many reads share memory, its contents are undefined. */
    @Override
    public void verify() throws IOException {
        try {
            read(CHECKED);
        } catch (Exception e) {
            throw new IOException("cannot read", e);
        }
        for (int i = 0; i < CHECKED; i++) {
            var found = memory.buffer(at(i), ManyFiles.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            TestFile.verify(found, (long) ManyFiles.block(i) * ManyFiles.BYTES);
        }
    }

    @Override
    public void close() {
        ring.close();
        memory.free();
    }
}
