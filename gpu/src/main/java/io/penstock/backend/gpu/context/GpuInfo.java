// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.context;

import io.penstock.backend.gpu.api.DriverApi;
import java.nio.charset.StandardCharsets;

/**
 * A GPU as reported by the driver.
 *
 * @param ordinal its number, from 0
 * @param device the driver's handle
 * @param name the vendor's model name
 * @param bytes the size of its memory
 * @param bus its PCI bus address, or an empty string
 */
public record GpuInfo(int ordinal, int device, String name, long bytes, String bus) {

    private static final int TEXT_BYTES = 256;

    /**
     * Queries the driver; needs no context.
     *
     * @throws io.penstock.PenstockException with the driver's answer
     */
    public static GpuInfo of(DriverApi driver, int ordinal) {
        String request = "query of GPU " + ordinal;
        int[] device = new int[1];
        driver.check(request, "deviceGet", driver.deviceGet(device, ordinal));
        byte[] name = new byte[TEXT_BYTES];
        driver.check(request, "deviceGetName", driver.deviceGetName(name, TEXT_BYTES, device[0]));
        long[] bytes = new long[1];
        driver.check(request, "deviceTotalMem", driver.deviceTotalMem(bytes, device[0]));
        byte[] bus = new byte[TEXT_BYTES];
        boolean placed = driver.deviceGetPCIBusId(bus, TEXT_BYTES, device[0]) == DriverApi.SUCCESS;
        return new GpuInfo(ordinal, device[0], text(name), bytes[0], placed ? text(bus) : "");
    }

    /** Returns whether kernels and copies of this GPU can access the memory of another; needs no context. */
    public boolean reaches(DriverApi driver, GpuInfo other) {
        int[] can = new int[1];
        return driver.deviceCanAccessPeer(can, device, other.device) == DriverApi.SUCCESS && can[0] != 0;
    }

    private static String text(byte[] terminated) {
        int end = 0;
        while (end < terminated.length && terminated[end] != 0) {
            end++;
        }
        return new String(terminated, 0, end, StandardCharsets.UTF_8);
    }

    @Override
    public String toString() {
        return "GPU " + ordinal + ": " + name + ", " + (bytes >> 20) + " MiB" + (bus.isEmpty() ? "" : ", PCI " + bus);
    }
}
