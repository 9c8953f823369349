// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.Failure;
import io.penstock.NativeError;
import io.penstock.Outcome;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.bus.IovaSpace;
import io.penstock.engine.spi.ffi.Errno;
import io.penstock.engine.spi.ffi.ErrnoException;
import io.penstock.engine.spi.ffi.LibC;
import io.penstock.engine.spi.ffi.NativeMemory;
import io.penstock.engine.spi.memory.HostMemory;
import io.penstock.engine.spi.memory.Slab;
import io.penstock.engine.spi.memory.Slabs;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controller that is bound to {@code vfio-pci}: BAR0 is mapped into this process, and memory is mapped for DMA through
 * the IOMMU, which refuses the device everything else.
 *
 * <p><b>Errors:</b> {@link ErrnoException} with the request that the kernel refused.
 */
public final class VfioBus implements Bus {

    private static final Logger LOG = LoggerFactory.getLogger(VfioBus.class);

    // Above all that the processor's own devices use, and within the 39 bits of the smallest IOMMU.
    private static final long FIRST_IOVA = 1L << 32;
    private static final long END_IOVA = 1L << 39;
    private static final long PAGE_MASK = 4095;
    private static final int COMMAND = 4; // in the configuration space
    private static final int MEMORY_SPACE = 2;
    private static final int BUS_MASTER = 4;

    private static final VarHandle WORDS = MethodHandles.byteBufferViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    private final String address;
    private final int container;
    private final int device;
    private final Vfio.Region configuration;
    private final long bar0;
    private final long bar0Bytes;
    private final ByteBuffer registers;
    private final int vectors;
    private final IovaSpace space = new IovaSpace(FIRST_IOVA, END_IOVA - FIRST_IOVA);
    private final Deque<Integer> descriptors; // last opened, first closed
    private volatile boolean closed;

    private VfioBus(String address, int container, int device, Deque<Integer> descriptors) throws ErrnoException {
        this.address = address;
        this.container = container;
        this.device = device;
        this.descriptors = descriptors;
        configuration = Vfio.region(device, Vfio.CONFIGURATION_REGION);
        Vfio.Region region = Vfio.region(device, Vfio.BAR0_REGION);
        command(MEMORY_SPACE | BUS_MASTER);
        bar0Bytes = region.size();
        bar0 = LibC.orErrno(LibC.mmap(0, bar0Bytes, LibC.PROT_READ_WRITE, LibC.MAP_SHARED, device, region.offset()));
        if (bar0 < 0 && bar0 > -4096) {
            throw new ErrnoException("mapping of BAR0", "mmap", (int) -bar0);
        }
        registers = NativeMemory.view(bar0, bar0Bytes);
        vectors = enableInterrupts(address, device);
    }

    /** Enables MSI-X, and returns the number of vectors; 0 if that is refused, and completions are polled. */
    private static int enableInterrupts(String address, int device) {
        try {
            int count = Vfio.vectors(device);
            if (count > 0) {
                Vfio.connect(device, 0, count, -1);
            }
            return count;
        } catch (ErrnoException e) {
            LOG.info("{} is polled: its interrupts cannot be enabled: {}", address, e.getMessage());
            return 0;
        }
    }

    @Override
    public boolean connect(int vector, int eventfd) {
        try {
            if (vector < vectors) {
                Vfio.connect(device, vector, 1, eventfd);
                return true;
            }
        } catch (ErrnoException e) {
            LOG.info("vector {} of {} is not used: {}", vector, address, e.getMessage());
        }
        return false;
    }

    /**
     * Opens a controller.
     *
     * @param address its PCI address
     * @throws IOException if it is in use, is not bound to {@code vfio-pci}, or the kernel refuses
     */
    public static VfioBus open(String address) throws IOException {
        PciDevice device = PciDevice.find(Path.of("/"), address)
                .orElseThrow(
                        () -> new FileSystemException(address, null, "there is no NVMe controller at this address"));
        if (!device.refusal().isEmpty()) {
            throw new FileSystemException(address, null, device.refusal() + "; " + device.remedy());
        }
        Deque<Integer> descriptors = new ArrayDeque<>();
        try {
            int container = open(descriptors, "/dev/vfio/vfio");
            int group = open(descriptors, "/dev/vfio/" + device.group());
            attach(container, group);
            ByteBuffer name = Vfio.structure(64).put(address.getBytes(StandardCharsets.US_ASCII));
            int fd = Vfio.ioctl(group, Vfio.GROUP_GET_DEVICE_FD, name, "VFIO_GROUP_GET_DEVICE_FD");
            descriptors.push(fd);
            return new VfioBus(address, container, fd, descriptors);
        } catch (IOException | RuntimeException e) {
            descriptors.forEach(LibC::close);
            throw e;
        }
    }

    private static int open(Deque<Integer> descriptors, String path) throws ErrnoException {
        byte[] name = (path + '\0').getBytes(StandardCharsets.US_ASCII);
        int fd = LibC.orErrno(LibC.open(name, LibC.O_RDWR | LibC.O_CLOEXEC, 0));
        if (fd < 0) {
            throw new ErrnoException("opening of " + path, "open", -fd);
        }
        descriptors.push(fd);
        return fd;
    }

    private static void attach(int container, int group) throws ErrnoException, FileSystemException {
        if (Vfio.ioctl(container, Vfio.GET_API_VERSION, 0, "VFIO_GET_API_VERSION") != Vfio.API_VERSION
                || Vfio.ioctl(container, Vfio.CHECK_EXTENSION, Vfio.TYPE1V2_IOMMU, "VFIO_CHECK_EXTENSION") == 0) {
            throw new FileSystemException("/dev/vfio/vfio", null, "this kernel has no VFIO with an IOMMU of type 1");
        }
        ByteBuffer status = Vfio.structure(8).putInt(0, 8);
        Vfio.ioctl(group, Vfio.GROUP_GET_STATUS, status, "VFIO_GROUP_GET_STATUS");
        if ((status.getInt(4) & Vfio.GROUP_VIABLE) == 0) {
            throw new FileSystemException(
                    "/dev/vfio", null, "other devices of the IOMMU group are bound to drivers of the kernel");
        }
        ByteBuffer fd = Vfio.structure(4).putInt(0, container);
        Vfio.ioctl(group, Vfio.GROUP_SET_CONTAINER, fd, "VFIO_GROUP_SET_CONTAINER");
        Vfio.ioctl(container, Vfio.SET_IOMMU, Vfio.TYPE1V2_IOMMU, "VFIO_SET_IOMMU");
    }

    /** Writes the command register. */
    private void command(int value) throws ErrnoException {
        ByteBuffer word = Vfio.structure(2).putShort(0, (short) value);
        long written =
                LibC.orErrno(LibC.pwrite(device, NativeMemory.address(word), 2, configuration.offset() + COMMAND));
        if (written < 0) {
            throw new ErrnoException("writing of the command register", "pwrite", (int) -written);
        }
    }

    @Override
    public String name() {
        return address;
    }

    @Override
    public int read(int offset) {
        return (int) WORDS.getVolatile(registers, offset);
    }

    @Override
    public void write(int offset, int value) {
        WORDS.setRelease(registers, offset, value);
    }

    @Override
    public DmaMemory allocate(long bytes) {
        Slab slab = Slabs.shared().allocate(bytes);
        try {
            return map(slab, slab::free);
        } catch (RuntimeException e) {
            slab.free();
            throw e;
        }
    }

    @Override
    public DmaMemory map(HostMemory memory) {
        return map(memory, () -> {});
    }

    private DmaMemory map(HostMemory memory, Runnable release) {
        long inPage = memory.hostAddress() & PAGE_MASK;
        long bytes = IovaSpace.pages(inPage + memory.bytes());
        long iova = space.take(bytes);
        if (iova < 0) {
            throw refused(memory, new ErrnoException("IOVA", Errno.ENOSPC));
        }
        try {
            Vfio.map(container, memory.hostAddress() - inPage, iova, bytes);
        } catch (ErrnoException e) {
            space.give(iova, bytes);
            throw refused(memory, e);
        }
        return new Mapped(memory, iova + inPage, () -> unmap(iova, bytes, release));
    }

    private static TransientStorageException refused(HostMemory memory, ErrnoException cause) {
        NativeError error = cause.nativeError();
        String help = cause.errno() == Errno.ENOMEM ? "; ulimit -l limits what is mapped for DMA" : "";
        return new TransientStorageException(
                "mapping of " + memory.bytes() + " bytes for DMA failed: " + cause.getMessage() + help,
                new Failure(Outcome.NOT_STARTED, error),
                cause);
    }

    private void unmap(long iova, long bytes, Runnable release) {
        try {
            if (!closed) { // closing the container has unmapped all
                Vfio.unmap(container, iova, bytes);
            }
            space.give(iova, bytes);
            release.run();
        } catch (ErrnoException e) {
            LOG.warn("{} bytes for {} stay mapped for DMA, and are not freed: {}", bytes, address, e.getMessage());
        }
    }

    @Override
    public void stopDma() {
        try {
            command(MEMORY_SPACE);
        } catch (ErrnoException e) {
            LOG.warn("DMA of {} could not be stopped: {}", address, e.getMessage());
        }
    }

    /** {@inheritDoc} The kernel resets the device when its descriptor is closed. */
    @Override
    public void close() {
        closed = true;
        LibC.munmap(bar0, bar0Bytes);
        descriptors.forEach(LibC::close);
    }

    /** Memory and its mapping in the IOMMU. */
    private record Mapped(HostMemory memory, long busAddress, Runnable release) implements DmaMemory {

        @Override
        public long bytes() {
            return memory.bytes();
        }

        @Override
        public long hostAddress() {
            return memory.hostAddress();
        }

        @Override
        public ByteBuffer buffer(long offset, int length) {
            return memory.buffer(offset, length);
        }

        @Override
        public void free() {
            release.run();
        }
    }
}
