// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadPlan;
import io.penstock.formats.LoadedArrays;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.zip.CRC32C;

/**
 * Sums of what lies in memory of a device, compared with sums of the files. The files are read by the JDK, so that the
 * transfers do not verify themselves; what is decoded is decoded as it was by the load.
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
            long file = ofFile(placement);
            if (device != file) {
                throw new IOException(String.format(
                        "array %s differs: CRC-32C of the device's memory is %08x, of %s %08x",
                        name, device, placement.source().first().file(), file));
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

    private static long ofFile(LoadPlan.Placement placement) throws IOException {
        CRC32C crc = new CRC32C();
        placement.contents(crc::update);
        return crc.getValue();
    }
}
