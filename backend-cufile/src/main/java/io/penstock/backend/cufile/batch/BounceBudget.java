// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.batch;

import io.penstock.backend.cufile.driver.CuFileDriver;
import io.penstock.backend.cufile.driver.DriverProperties;
import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;
import io.penstock.engine.spi.Shared;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How much of libcufile's bounce buffers this process has taken for batches: pieces of the cache on each GPU, and the slabs
 * of host memory of the POSIX mode, which all GPUs share. A batch that needs more than a pool has does not fail; it never
 * ends. The process has one budget while there is a batch, from which all queues take.
 *
 * <p>Queues for which there was no room are served first come, first served: nobody takes while another queue has waited
 * longer, and the one that has waited longest is woken when something is given back.
 *
 * <p><b>Threading:</b> thread-safe; does not block.
 */
final class BounceBudget {

    /** What cuFile uses where it is too old to be asked, or was told nothing. */
    private static final long[] USUAL_SLAB_KILOBYTES = {4, 1024, 16_384};

    private static final long[] USUAL_SLAB_COUNTS = {128, 64, 64};
    private static final int MOST_SLAB_CLASSES = 8;

    private static final Shared<Object, BounceBudget> OPEN = new Shared<>(unused -> {});

    private final long pieceBytes;
    private final long mostPieces;
    private final long[] slabBytes; // rising
    private final long[] mostSlabs;
    private final long[] slabs; // this and all below: guarded by this
    private final Map<Integer, long[]> pieces = new HashMap<>(); // one number of each GPU
    private final ArrayDeque<Claim> waiting = new ArrayDeque<>();

    /** What one queue takes and gives. */
    final class Claim {

        private final Runnable wake;
        private final long[] ofGpu;
        private boolean waits;

        private Claim(long[] ofGpu, Runnable wake) {
            this.ofGpu = ofGpu;
            this.wake = wake;
        }

        /**
         * Takes what an operation of {@code bytes} may need; false, and nothing taken, if that is not there now or others
         * have waited for longer. The queue is woken when it is to try again. An operation that needs more than there is at
         * all goes alone.
         */
        boolean take(long bytes) {
            Claim next;
            synchronized (BounceBudget.this) {
                boolean first = waiting.isEmpty() || waiting.peek() == this;
                if (!first || !fits(bytes)) {
                    await();
                    return false;
                }
                ofGpu[0] += pieces(bytes);
                int slab = slab(bytes);
                slabs[slab] += slabs(bytes, slab);
                next = stopWaiting();
            }
            wake(next);
            return true;
        }

        /** Gives back what an operation of {@code bytes} took. */
        void give(long bytes) {
            Claim next;
            synchronized (BounceBudget.this) {
                ofGpu[0] -= pieces(bytes);
                int slab = slab(bytes);
                slabs[slab] -= slabs(bytes, slab);
                next = waiting.peek();
            }
            wake(next);
        }

        /** Says that the queue wants nothing any more. */
        void withdraw() {
            Claim next;
            synchronized (BounceBudget.this) {
                next = stopWaiting();
            }
            wake(next);
        }

        /** Ends the claim, which has given back all that it took, and with it one use of the budget. */
        void end() {
            withdraw();
            OPEN.leave(BounceBudget.this);
        }

        private boolean fits(long bytes) {
            long needed = pieces(bytes);
            int slab = slab(bytes);
            return (ofGpu[0] == 0 || ofGpu[0] + needed <= mostPieces)
                    && (slabs[slab] == 0 || slabs[slab] + slabs(bytes, slab) <= mostSlabs[slab]);
        }

        private void await() {
            if (!waits) {
                waits = true;
                waiting.add(this);
            }
        }

        /** Returns who is the first then, if it was this one before. */
        private @Nullable Claim stopWaiting() {
            if (!waits) {
                return null;
            }
            waits = false;
            boolean first = waiting.peek() == this;
            waiting.remove(this);
            return first ? waiting.peek() : null;
        }

        private void wake(@Nullable Claim other) {
            if (other != null && other != this) {
                other.wake.run();
            }
        }
    }

    BounceBudget(long pieceBytes, long mostPieces, long[] slabBytes, long[] mostSlabs) {
        this.pieceBytes = pieceBytes;
        this.mostPieces = mostPieces;
        this.slabBytes = slabBytes.clone();
        this.mostSlabs = mostSlabs.clone();
        this.slabs = new long[slabBytes.length];
    }

    /** Becomes a user of the budget of the driver, which is open. */
    static BounceBudget open(CuFileDriver driver) {
        return OPEN.open(driver, () -> of(driver.properties()));
    }

    /** Reads what the driver, which is open, has. */
    static BounceBudget of(DriverProperties properties) {
        long piece = Math.max(1, properties.perBufferKilobytes()) << 10;
        long pieces = Math.max(1, (properties.deviceCacheKilobytes() << 10) / piece);
        for (int classes = 1; classes <= MOST_SLAB_CLASSES; classes++) {
            long[] kilobytes = new long[classes];
            long[] counts = new long[classes];
            // The length must be the right one, and nothing tells which that is.
            long status = CuFile.cuFileGetParameterPosixPoolSlabArray(kilobytes, counts, classes);
            if (CuFile.error(status) == CuFileError.SUCCESS) {
                return new BounceBudget(piece, pieces, bytes(kilobytes), counts);
            }
        }
        return new BounceBudget(piece, pieces, bytes(USUAL_SLAB_KILOBYTES), USUAL_SLAB_COUNTS);
    }

    private static long[] bytes(long[] kilobytes) {
        long[] bytes = new long[kilobytes.length];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = kilobytes[i] << 10;
        }
        return bytes;
    }

    /**
     * Lets a queue take part.
     *
     * @param gpu whose cache its operations use
     * @param wake has the queue try again; any thread, must not block
     */
    synchronized Claim claim(int gpu, Runnable wake) {
        return new Claim(pieces.computeIfAbsent(gpu, ordinal -> new long[1]), wake);
    }

    private long pieces(long bytes) {
        return (bytes + pieceBytes - 1) / pieceBytes;
    }

    private int slab(long bytes) {
        int slab = 0;
        while (slab < slabBytes.length - 1 && slabBytes[slab] < bytes) {
            slab++;
        }
        return slab;
    }

    private long slabs(long bytes, int slab) {
        return (bytes + slabBytes[slab] - 1) / slabBytes[slab];
    }
}
