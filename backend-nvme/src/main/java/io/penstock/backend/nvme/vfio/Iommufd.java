// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.engine.kit.ffi.ErrnoException;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A device by its own file, bound to an iommufd and attached to an address space of it. Requests and structures come
 * from {@code linux/iommufd.h} and {@code linux/vfio.h} of Linux 7.0, laid out by hand as a C compiler does; the
 * two of VFIO in the length of Linux 6.6, which had them first, and which later kernels accept.
 */
record Iommufd(Descriptors descriptors, int iommu, int space, int device) implements AddressSpace {

    /** What hands out address spaces. */
    static final String FILE = "/dev/iommu";

    private static final int IOAS_ALLOC = request(0x81);
    private static final int IOAS_MAP = request(0x85);
    private static final int IOAS_UNMAP = request(0x86);
    private static final int IOAS_MAP_FILE = request(0x8f);
    private static final int DEVICE_BIND_IOMMUFD = request(100 + 18); // VFIO_BASE + 18
    private static final int DEVICE_ATTACH_IOMMUFD_PT = request(100 + 19);

    private static final int ALLOC_BYTES = 12;
    private static final int MAP_BYTES = 40;
    private static final int UNMAP_BYTES = 24;
    private static final int BIND_BYTES = 16;
    private static final int ATTACH_BYTES = 12;
    private static final int FIXED_WRITEABLE_READABLE = 1 | 2 | 4;

    private static int request(int number) {
        return ';' << 8 | number; // _IO(IOMMUFD_TYPE, number); VFIO_TYPE is the same
    }

    /** Opens a device. */
    static AddressSpace open(Kernel kernel, PciDevice device) throws IOException {
        Descriptors descriptors = new Descriptors(kernel, device.address());
        try {
            int iommu = descriptors.open(FILE);
            int fd = descriptors.open(device.file());
            ByteBuffer bind = Vfio.structure(BIND_BYTES).putInt(0, BIND_BYTES).putInt(8, iommu);
            descriptors.ioctl(fd, DEVICE_BIND_IOMMUFD, bind, "VFIO_DEVICE_BIND_IOMMUFD");
            ByteBuffer alloc = Vfio.structure(ALLOC_BYTES).putInt(0, ALLOC_BYTES);
            descriptors.ioctl(iommu, IOAS_ALLOC, alloc, "IOMMU_IOAS_ALLOC");
            int space = alloc.getInt(8);
            ByteBuffer attach =
                    Vfio.structure(ATTACH_BYTES).putInt(0, ATTACH_BYTES).putInt(8, space);
            descriptors.ioctl(fd, DEVICE_ATTACH_IOMMUFD_PT, attach, "VFIO_DEVICE_ATTACH_IOMMUFD_PT");
            return new Iommufd(descriptors, iommu, space, fd);
        } catch (IOException | RuntimeException | Error e) {
            descriptors.close();
            throw e;
        }
    }

    @Override
    public void map(long address, long iova, long bytes) throws ErrnoException {
        ByteBuffer map = map(iova, bytes).putLong(16, address);
        descriptors.change(iommu, IOAS_MAP, map, "IOMMU_IOAS_MAP");
    }

    @Override
    public void mapDmaBuf(int descriptor, long start, long iova, long bytes) throws ErrnoException {
        ByteBuffer map = map(iova, bytes).putInt(12, descriptor).putLong(16, start);
        descriptors.change(iommu, IOAS_MAP_FILE, map, "IOMMU_IOAS_MAP_FILE");
    }

    /** Returns what the two structures have in common. */
    private ByteBuffer map(long iova, long bytes) {
        return Vfio.structure(MAP_BYTES)
                .putInt(0, MAP_BYTES)
                .putInt(4, FIXED_WRITEABLE_READABLE)
                .putInt(8, space)
                .putLong(24, bytes)
                .putLong(32, iova);
    }

    @Override
    public void unmap(long iova, long bytes) throws ErrnoException {
        ByteBuffer unmap = Vfio.structure(UNMAP_BYTES)
                .putInt(0, UNMAP_BYTES)
                .putInt(4, space)
                .putLong(8, iova)
                .putLong(16, bytes);
        descriptors.change(iommu, IOAS_UNMAP, unmap, "IOMMU_IOAS_UNMAP");
    }

    @Override
    public void close() {
        descriptors.close();
    }
}
