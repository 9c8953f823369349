// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.engine.kit.ffi.ErrnoException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The requests of {@code linux/vfio.h} that the bus needs; structures are laid out by hand. */
final class Vfio {

    static final int GET_API_VERSION = request(0);
    static final int CHECK_EXTENSION = request(1);
    static final int SET_IOMMU = request(2);
    static final int GROUP_GET_STATUS = request(3);
    static final int GROUP_SET_CONTAINER = request(4);
    static final int GROUP_GET_DEVICE_FD = request(6);
    static final int DEVICE_GET_REGION_INFO = request(8);
    static final int DEVICE_GET_IRQ_INFO = request(9);
    static final int DEVICE_SET_IRQS = request(10);
    static final int IOMMU_MAP_DMA = request(13);
    static final int IOMMU_UNMAP_DMA = request(14);

    static final int API_VERSION = 0;
    static final int TYPE1V2_IOMMU = 3;
    static final int GROUP_VIABLE = 1;
    static final int BAR0_REGION = 0;
    static final int CONFIGURATION_REGION = 7;
    static final int MAP_BYTES = 32;
    static final int UNMAP_BYTES = 24;
    static final int READ_AND_WRITE = 3;

    private static final int MSIX = 2; // the index of these interrupts
    private static final int DATA_EVENTFD = 1 << 2;
    private static final int ACTION_TRIGGER = 1 << 5;
    private static final int IRQ_INFO_BYTES = 16;
    private static final int IRQ_SET_BYTES = 20;
    private static final int REGION_INFO_BYTES = 32;

    private Vfio() {}

    private static int request(int number) {
        return ';' << 8 | 100 + number; // _IO(VFIO_TYPE, VFIO_BASE + number)
    }

    /**
     * A region of a device: a BAR, or the configuration space.
     *
     * @param size in bytes
     * @param offset where it is in the device's descriptor
     */
    record Region(long size, long offset) {}

    private static void ioctl(int fd, int request, ByteBuffer structure, String name) throws ErrnoException {
        int result = Kernel.LINUX.ioctl(fd, request, structure);
        if (result < 0) {
            throw new ErrnoException(name, -result);
        }
    }

    static ByteBuffer structure(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    static Region region(int device, int index) throws ErrnoException {
        ByteBuffer info =
                structure(REGION_INFO_BYTES).putInt(0, REGION_INFO_BYTES).putInt(8, index);
        ioctl(device, DEVICE_GET_REGION_INFO, info, "VFIO_DEVICE_GET_REGION_INFO");
        return new Region(info.getLong(16), info.getLong(24));
    }

    /** Returns how many MSI-X vectors a device has. */
    static int vectors(int device) throws ErrnoException {
        ByteBuffer info = structure(IRQ_INFO_BYTES).putInt(0, IRQ_INFO_BYTES).putInt(8, MSIX);
        ioctl(device, DEVICE_GET_IRQ_INFO, info, "VFIO_DEVICE_GET_IRQ_INFO");
        return info.getInt(12);
    }

    /** Lets vectors from {@code start} on signal an eventfd, or nothing; the first call enables MSI-X. */
    static void connect(int device, int start, int count, int eventfd) throws ErrnoException {
        int bytes = IRQ_SET_BYTES + count * Integer.BYTES;
        ByteBuffer set = structure(bytes)
                .putInt(0, bytes)
                .putInt(4, DATA_EVENTFD | ACTION_TRIGGER)
                .putInt(8, MSIX)
                .putInt(12, start)
                .putInt(16, count);
        for (int i = 0; i < count; i++) {
            set.putInt(IRQ_SET_BYTES + i * Integer.BYTES, eventfd);
        }
        ioctl(device, DEVICE_SET_IRQS, set, "VFIO_DEVICE_SET_IRQS");
    }
}
