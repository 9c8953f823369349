// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.engine.kit.ffi.ErrnoException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;

/** A device by its IOMMU group, in a container of type 1, which every kernel with VFIO has. */
record Type1(Descriptors descriptors, int container, int device) implements AddressSpace {

    /** Opens a device. */
    static AddressSpace open(Kernel kernel, PciDevice device) throws IOException {
        Descriptors descriptors = new Descriptors(kernel, device.address());
        try {
            int container = descriptors.open("/dev/vfio/vfio");
            int group = descriptors.open(device.groupFile());
            attach(descriptors, container, group);
            ByteBuffer name = Vfio.structure(64).put(device.address().getBytes(StandardCharsets.US_ASCII));
            int fd = descriptors.ioctl(group, Vfio.GROUP_GET_DEVICE_FD, name, "VFIO_GROUP_GET_DEVICE_FD");
            return new Type1(descriptors, container, descriptors.keep(fd));
        } catch (IOException | RuntimeException | Error e) {
            descriptors.close();
            throw e;
        }
    }

    private static void attach(Descriptors descriptors, int container, int group) throws IOException {
        if (descriptors.ioctl(container, Vfio.GET_API_VERSION, 0, "VFIO_GET_API_VERSION") != Vfio.API_VERSION
                || descriptors.ioctl(container, Vfio.CHECK_EXTENSION, Vfio.TYPE1V2_IOMMU, "VFIO_CHECK_EXTENSION")
                        == 0) {
            throw new FileSystemException("/dev/vfio/vfio", null, "this kernel has no VFIO with an IOMMU of type 1");
        }
        ByteBuffer status = Vfio.structure(8).putInt(0, 8);
        descriptors.ioctl(group, Vfio.GROUP_GET_STATUS, status, "VFIO_GROUP_GET_STATUS");
        if ((status.getInt(4) & Vfio.GROUP_VIABLE) == 0) {
            throw new FileSystemException(
                    "/dev/vfio", null, "other devices of the IOMMU group are bound to drivers of the kernel");
        }
        ByteBuffer fd = Vfio.structure(4).putInt(0, container);
        descriptors.ioctl(group, Vfio.GROUP_SET_CONTAINER, fd, "VFIO_GROUP_SET_CONTAINER");
        descriptors.ioctl(container, Vfio.SET_IOMMU, Vfio.TYPE1V2_IOMMU, "VFIO_SET_IOMMU");
    }

    @Override
    public void map(long address, long iova, long bytes) throws ErrnoException {
        ByteBuffer map = Vfio.structure(Vfio.MAP_BYTES)
                .putInt(0, Vfio.MAP_BYTES)
                .putInt(4, Vfio.READ_AND_WRITE)
                .putLong(8, address)
                .putLong(16, iova)
                .putLong(24, bytes);
        descriptors.change(container, Vfio.IOMMU_MAP_DMA, map, "VFIO_IOMMU_MAP_DMA");
    }

    @Override
    public void mapDmaBuf(int descriptor, long start, long iova, long bytes) throws IOException {
        throw new IOException("only iommufd maps a dma-buf, and the device was opened by its IOMMU group");
    }

    @Override
    public void unmap(long iova, long bytes) throws ErrnoException {
        ByteBuffer unmap = Vfio.structure(Vfio.UNMAP_BYTES)
                .putInt(0, Vfio.UNMAP_BYTES)
                .putLong(8, iova)
                .putLong(16, bytes);
        descriptors.change(container, Vfio.IOMMU_UNMAP_DMA, unmap, "VFIO_IOMMU_UNMAP_DMA");
    }

    @Override
    public void close() {
        descriptors.close();
    }
}
