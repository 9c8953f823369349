// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Converts rows of voxels to floats, exactly: every 8-bit and 16-bit integer is representable. Volumes with a negative
 * slope are negated, so that more is always brighter; the rest of {@code scl_slope} and {@code scl_inter} has no
 * visible effect, since windows follow the values.
 *
 * <p><b>Threading:</b> for one thread; it owns the row that it returns.
 */
final class RowDecoder {

    private final NiftiHeader header;
    private final byte[] bytes;
    private final float[] row;

    RowDecoder(NiftiHeader header) {
        this.header = header;
        this.bytes = new byte[header.columns() * header.type().bytes()];
        this.row = new float[header.columns()];
    }

    /** Returns row {@code index} of the slab, counting through its slices; valid until the next call. */
    float[] row(Slab slab, int index) {
        // Bulk copy first: it is checked once, and the loops below then run over plain arrays.
        slab.voxels().get(index * bytes.length, bytes);
        switch (header.type()) {
            case UINT8 -> unsignedBytes();
            case INT8 -> signedBytes();
            case INT16 -> shorts(false);
            case UINT16 -> shorts(true);
            case FLOAT32 -> floats();
        }
        if (header.falling()) {
            for (int x = 0; x < row.length; x++) {
                row[x] = -row[x];
            }
        }
        return row;
    }

    private void unsignedBytes() {
        for (int x = 0; x < row.length; x++) {
            row[x] = bytes[x] & 0xff;
        }
    }

    private void signedBytes() {
        for (int x = 0; x < row.length; x++) {
            row[x] = bytes[x];
        }
    }

    private void shorts(boolean unsigned) {
        int low = header.order() == ByteOrder.LITTLE_ENDIAN ? 0 : 1;
        for (int x = 0; x < row.length; x++) {
            int value = (bytes[2 * x + 1 - low] << 8) | (bytes[2 * x + low] & 0xff);
            row[x] = unsigned ? value & 0xffff : value;
        }
    }

    private void floats() {
        ByteBuffer.wrap(bytes).order(header.order()).asFloatBuffer().get(row);
    }
}
