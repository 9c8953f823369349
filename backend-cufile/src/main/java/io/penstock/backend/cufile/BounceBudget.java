// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.CuFile;
import io.penstock.backend.cufile.ffi.CuFileError;

/**
 * How much of cuFile's two pools of bounce buffers one queue has taken: pieces of the cache on the GPU, and slabs of host
 * memory for the POSIX mode. A batch that needs more than a pool has does not fail; it never ends.
 *
 * <p>The lane's thread only. The queues of other backends in the process take from the same pools, so that one queue
 * counts on half of each.
 */
final class BounceBudget {

    /** What cuFile uses where it is too old to be asked, or was told nothing. */
    private static final long[] USUAL_SLAB_KILOBYTES = {4, 1024, 16_384};

    private static final long[] USUAL_SLAB_COUNTS = {128, 64, 64};
    private static final int MOST_SLAB_CLASSES = 8;

    private final long pieceBytes;
    private final long mostPieces;
    private final long[] slabBytes; // rising
    private final long[] mostSlabs;
    private final long[] slabs;
    private long pieces;

    BounceBudget(long pieceBytes, long mostPieces, long[] slabBytes, long[] mostSlabs) {
        this.pieceBytes = pieceBytes;
        this.mostPieces = mostPieces;
        this.slabBytes = slabBytes.clone();
        this.mostSlabs = mostSlabs.clone();
        this.slabs = new long[slabBytes.length];
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
     * Takes what an operation of {@code bytes} may need; false, and nothing taken, if that is not there now. An operation
     * that needs more than there is at all goes alone.
     */
    boolean take(long bytes) {
        long needed = pieces(bytes);
        int slab = slab(bytes);
        long ofSlab = slabs(bytes, slab);
        boolean fits = (pieces == 0 || pieces + needed <= mostPieces)
                && (slabs[slab] == 0 || slabs[slab] + ofSlab <= mostSlabs[slab]);
        if (fits) {
            pieces += needed;
            slabs[slab] += ofSlab;
        }
        return fits;
    }

    /** Gives back what an operation of {@code bytes} took. */
    void give(long bytes) {
        int slab = slab(bytes);
        pieces -= pieces(bytes);
        slabs[slab] -= slabs(bytes, slab);
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
