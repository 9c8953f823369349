// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.formats.load.Assembly;
import io.penstock.formats.read.ArrowReader;
import io.penstock.formats.read.NpzReader;
import io.penstock.formats.read.VecsReader;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/**
 * Bytes that pass through memory of the host on their way to the device.
 *
 * @param buffer the number of the buffer of the device
 * @param offset where they go in it
 * @param bytes the memory of the host that they take: as many as they are, or all bytes of the chunk that they are in
 */
record HostPiece(int buffer, long offset, long bytes, Conversion conversion, Reading reading) {

    private static final int LEAST_BYTES = 1 << 20;
    private static final int PIECE_BYTES = 8 << 20;

    /** Reads and decodes the bytes. */
    interface Reading {
        ByteBuffer read() throws IOException;
    }

    /** Returns what the device gets, from position to limit. Blocks. */
    ByteBuffer read() throws IOException {
        ByteBuffer read = reading.read();
        read.clear();
        conversion.apply(read);
        return read;
    }

    /** Returns the pieces of a placement, in their order: together they are all of it. */
    static List<HostPiece> of(LoadPlan.Placement placement, ArrowReader.Comparison comparison) {
        List<HostPiece> pieces = new ArrayList<>();
        Conversion conversion = placement.conversion();
        if (placement.source() instanceof ChunkWindow window) {
            for (Assembly.Slab slab : Assembly.slabs(window, LEAST_BYTES, conversion.hostBytes())) {
                long offset = placement.offset() + conversion.bytes(slab.offset());
                pieces.add(new HostPiece(placement.buffer(), offset, slab.memoryBytes(), conversion, slab::read));
            }
            return pieces;
        }
        FileBlocks blocks = FileBlocks.of(placement.source());
        int step = (int) Math.min(PIECE_BYTES, conversion.hostBytes() / 16 * 16); // whole elements of any type
        for (long at = 0; at < blocks.bytes(); at += step) {
            long start = at;
            int length = (int) Math.min(step, blocks.bytes() - at);
            long offset = placement.offset() + conversion.bytes(at);
            Reading reading = () -> {
                Array.Data data = start == 0 ? placement.array().data() : null; // once, before the first bytes pass
                if (data instanceof Extent whole) {
                    NpzReader.checkSum(whole);
                    comparison.check(placement.array());
                } else if (data instanceof FileBlocks rows) {
                    VecsReader.check(rows);
                }
                return read(blocks, start, length);
            };
            pieces.add(new HostPiece(placement.buffer(), offset, length, conversion, reading));
        }
        return pieces;
    }

    private static ByteBuffer read(FileBlocks blocks, long start, int length) throws IOException {
        ByteBuffer read = ByteBuffer.allocateDirect(length);
        try (SeekableByteChannel channel = Files.newByteChannel(blocks.file())) {
            while (read.position() < length) {
                long at = start + read.position();
                long within = at % blocks.length();
                int count = (int) Math.min(blocks.length() - within, length - read.position());
                read.limit(read.position() + count);
                long offset = blocks.offset() + at / blocks.length() * blocks.stride() + within;
                Assembly.read(channel, read, new Extent(blocks.file(), offset, count));
            }
        }
        return read;
    }
}
