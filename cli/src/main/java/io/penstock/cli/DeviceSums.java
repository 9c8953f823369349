// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.formats.DeviceArray;
import io.penstock.formats.FileBlocks;
import io.penstock.formats.LoadPlan;
import io.penstock.formats.LoadedArrays;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Sums of what lies in memory of a device, compared with sums of the files. The files are read by the JDK alone, so that
 * Penstock does not verify itself.
 */
final class DeviceSums {

    private static final int BYTES = 8 << 20; // at a time

    private final Progress progress;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(BYTES);

    DeviceSums(Progress progress) {
        this.progress = progress;
    }

    /**
     * Returns the sum of each array.
     *
     * @throws IOException if one differs from that of the file
     */
    Map<String, String> verify(LoadPlan plan, LoadedArrays loaded) throws IOException {
        Map<String, String> sums = new LinkedHashMap<>();
        long done = 0;
        for (LoadPlan.Placement placement : plan.arrays()) {
            String name = placement.array().name();
            long device = ofDevice(loaded.get(name));
            long file = ofFile(placement.blocks());
            if (device != file) {
                throw new IOException(String.format(
                        "array %s differs: CRC-32C of the device's memory is %08x, of %s %08x",
                        name, device, placement.blocks().file(), file));
            }
            sums.put(name, String.format("%08x", device));
            done += placement.bytes();
            progress.step("verifying", done, plan.bytes());
        }
        return sums;
    }

    private long ofDevice(DeviceArray array) {
        CRC32C crc = new CRC32C();
        for (long at = 0; at < array.bytes(); at += BYTES) {
            buffer.clear().limit((int) Math.min(BYTES, array.bytes() - at));
            array.region()
                    .buffer()
                    .download(array.region().offset() + at, buffer)
                    .block();
            crc.update(buffer);
        }
        return crc.getValue();
    }

    private long ofFile(FileBlocks blocks) throws IOException {
        CRC32C crc = new CRC32C();
        if (blocks.bytes() == 0) {
            return crc.getValue();
        }
        try (FileChannel channel = FileChannel.open(blocks.file())) {
            for (long block = 0; block < blocks.count(); block++) {
                long offset = blocks.offset() + block * blocks.stride();
                for (long at = 0; at < blocks.length(); at += BYTES) {
                    buffer.clear().limit((int) Math.min(BYTES, blocks.length() - at));
                    fill(channel, offset + at, blocks);
                    crc.update(buffer.flip());
                }
            }
        }
        return crc.getValue();
    }

    private void fill(FileChannel channel, long offset, FileBlocks blocks) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer, offset + buffer.position()) < 0) {
                throw new EOFException(blocks.file() + " became shorter");
            }
        }
    }
}
