// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.Failure;
import io.penstock.Outcome;
import io.penstock.PermanentStorageException;
import io.penstock.TransientStorageException;
import io.penstock.backend.nvme.bus.Bus;
import io.penstock.backend.nvme.bus.DmaMapping;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.bus.IovaSpace;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A controller that is bound to {@code vfio-pci}: BAR0 is mapped into this process, and memory is mapped for DMA
 * through the IOMMU, which refuses the device everything else.
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
    private final AddressSpace memory;
    private final int device;
    private final Vfio.Region configuration;
    private final long bar0;
    private final long bar0Bytes;
    private final ByteBuffer registers;
    private final int vectors;
    private final IovaSpace space = new IovaSpace(FIRST_IOVA, END_IOVA - FIRST_IOVA);
    private volatile boolean closed;

    private VfioBus(String address, AddressSpace memory) throws ErrnoException {
        this.address = address;
        this.memory = memory;
        device = memory.device();
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
        Path root = Path.of("/");
        PciDevice device = PciDevice.find(root, address)
                .orElseThrow(
                        () -> new FileSystemException(address, null, "there is no NVMe controller at this address"));
        if (!device.refusal().isEmpty()) {
            throw new FileSystemException(address, null, device.refusal() + "; " + device.remedy());
        }
        LOG.debug("{} is opened {}", address, device.way(root));
        AddressSpace memory =
                device.hasIommufd(root) ? Iommufd.open(Kernel.LINUX, device) : Type1.open(Kernel.LINUX, device);
        try {
            return new VfioBus(address, memory);
        } catch (IOException | RuntimeException | Error e) {
            memory.close();
            throw e;
        }
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
        } catch (RuntimeException | Error e) {
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
        long first = memory.hostAddress() - inPage;
        try {
            return new Mapped(
                    memory, map(inPage, memory.bytes(), (iova, bytes) -> this.memory.map(first, iova, bytes), release));
        } catch (IOException e) {
            throw new TransientStorageException(refusal(memory.bytes() + " bytes", e), failure(e), e);
        }
    }

    @Override
    public DmaMapping mapDmaBuf(int descriptor, long offset, long bytes) {
        long inPage = offset & PAGE_MASK;
        long first = offset - inPage;
        try {
            return map(inPage, bytes, (iova, whole) -> memory.mapDmaBuf(descriptor, first, iova, whole), () -> {});
        } catch (IOException e) {
            String message = refusal(bytes + " bytes of a dma-buf", e);
            if (e instanceof ErrnoException error && (error.errno() == Errno.ENOMEM || error.errno() == Errno.ENOSPC)) {
                throw new TransientStorageException(message, failure(e), e);
            }
            throw new PermanentStorageException(message, failure(e), e);
        }
    }

    /** Maps pages at addresses of the device. */
    private interface Mapping {
        void map(long iova, long bytes) throws IOException;
    }

    private DmaMapping map(long inPage, long bytes, Mapping mapping, Runnable release) throws IOException {
        long whole = IovaSpace.pages(inPage + bytes);
        long iova = space.take(whole);
        if (iova < 0) {
            throw new ErrnoException("IOVA", Errno.ENOSPC);
        }
        try {
            mapping.map(iova, whole);
        } catch (IOException e) {
            space.give(iova, whole);
            throw e;
        }
        return new Pages(iova + inPage, () -> unmap(iova, whole, release));
    }

    private String refusal(String what, IOException cause) {
        boolean isLimit = cause instanceof ErrnoException error && error.errno() == Errno.ENOMEM;
        return "mapping of " + what + " for DMA by " + address + " failed: " + cause.getMessage()
                + (isLimit ? "; ulimit -l limits what is mapped for DMA" : "");
    }

    private static Failure failure(IOException cause) {
        return cause instanceof ErrnoException error
                ? new Failure(Outcome.NOT_STARTED, error.nativeError())
                : Failure.NOT_STARTED;
    }

    private void unmap(long iova, long bytes, Runnable release) {
        try {
            if (!closed) { // closing the address space has unmapped all
                memory.unmap(iova, bytes);
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
        memory.close();
    }

    /** Pages that are mapped in the IOMMU. */
    private record Pages(long busAddress, Runnable release) implements DmaMapping {

        @Override
        public void free() {
            release.run();
        }
    }

    /** Memory and its mapping. */
    private record Mapped(HostMemory memory, DmaMapping mapping) implements DmaMemory {

        @Override
        public long busAddress() {
            return mapping.busAddress();
        }

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
            mapping.free();
        }
    }
}
