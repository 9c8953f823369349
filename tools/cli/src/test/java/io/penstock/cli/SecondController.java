// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.IOException;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The guest's other controller, which has no disk: its regions, exported as dma-bufs, and read by the processor.
 * Requests and structures come from {@code linux/vfio.h} of Linux 7.0.
 */
final class SecondController implements AutoCloseable {

    /** The region of its registers, BAR0. */
    static final int REGISTERS = 0;

    /** The region of its own memory, QEMU's controller memory buffer. */
    static final int MEMORY = 2;

    static final int REGISTERS_BYTES = 16 << 10;
    static final int MEMORY_BYTES = 1 << 20;

    private static final Path LENT = Path.of("/sys/bus/pci/devices/0000:00:05.0/vfio-dev");
    private static final int GET_REGION_INFO = ';' << 8 | 108;
    private static final int FEATURE = ';' << 8 | 117;
    private static final int BIND_IOMMUFD = ';' << 8 | 118;
    private static final int FEATURE_GET_DMA_BUF = 1 << 16 | 11;

    private final int iommu;
    private final int device;

    private SecondController(int iommu, int device) {
        this.iommu = iommu;
        this.device = device;
    }

    static SecondController open() throws IOException {
        String name;
        try (DirectoryStream<Path> names = Files.newDirectoryStream(LENT)) {
            name = names.iterator().next().getFileName().toString();
        }
        SecondController opened = new SecondController(open("/dev/iommu"), open("/dev/vfio/devices/" + name));
        opened.ioctl(BIND_IOMMUFD, structure(16).putInt(0, 16).putInt(8, opened.iommu), "VFIO_DEVICE_BIND_IOMMUFD");
        return opened;
    }

    private static int open(String path) throws ErrnoException {
        byte[] name = (path + '\0').getBytes(StandardCharsets.US_ASCII);
        return (int) checked("open of " + path, LibC.open(name, LibC.O_RDWR | LibC.O_CLOEXEC, 0));
    }

    private static ByteBuffer structure(int bytes) {
        return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    private int ioctl(int request, ByteBuffer structure, String name) throws ErrnoException {
        try {
            return (int) checked(name, LibC.ioctl(device, request, NativeMemory.address(structure)));
        } finally {
            Reference.reachabilityFence(structure);
        }
    }

    private static long checked(String call, long result) throws ErrnoException {
        long answer = LibC.orErrno(result);
        if (answer < 0) {
            throw new ErrnoException(call, (int) -answer);
        }
        return answer;
    }

    /** Exports the start of a region; the caller closes the descriptor. */
    int dmaBuf(int region, int bytes) throws ErrnoException {
        ByteBuffer feature = structure(40).putInt(0, 40).putInt(4, FEATURE_GET_DMA_BUF);
        feature.putInt(8, region)
                .putInt(12, LibC.O_RDWR | LibC.O_CLOEXEC)
                .putInt(20, 1)
                .putLong(32, bytes);
        return ioctl(FEATURE, feature, "VFIO_DEVICE_FEATURE_DMA_BUF");
    }

    /** Returns the first bytes of a region, as the processor reads them. */
    ByteBuffer read(int region, int bytes) throws ErrnoException {
        ByteBuffer info = structure(32).putInt(0, 32).putInt(8, region);
        ioctl(GET_REGION_INFO, info, "VFIO_DEVICE_GET_REGION_INFO");
        ByteBuffer found = ByteBuffer.allocateDirect(bytes);
        checked("pread", LibC.pread(device, NativeMemory.address(found), bytes, info.getLong(24)));
        return found;
    }

    @Override
    public void close() {
        LibC.close(device);
        LibC.close(iommu);
    }
}
