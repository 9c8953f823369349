// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import io.penstock.engine.spi.ffi.Errno;
import io.penstock.engine.spi.ffi.LibC;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory from the operating system, aligned to {@link #ALIGNMENT}, of which slabs are parts.
 *
 * <p><b>Ownership:</b> {@link #retire} gives it back, once; its size class does so when no slab uses it.
 */
final class Mapping implements Registrable {
    static final int ALIGNMENT = 4096;

    private static final long HUGE_PAGE_BYTES = 2L << 20;
    // Lanes compare it with what they last saw, to find out that a registered mapping may be gone.
    private static final AtomicInteger RETIRED = new AtomicInteger();
    private static final AtomicLong NEXT_INVENTED = new AtomicLong(ALIGNMENT);

    static final Indices INDICES = new Indices();

    /** Tells it from every other mapping there is now; small. */
    final int index = INDICES.take();

    final long address;
    final long bytes;
    int liveSlabs; // guarded by the size class

    private final long allocated; // what malloc gave, or 0
    private final @Nullable ByteBuffer heapless; // without JNA: holds the memory
    private volatile boolean retired;

    private Mapping(long address, long bytes, long allocated, @Nullable ByteBuffer heapless) {
        this.address = address;
        this.bytes = bytes;
        this.allocated = allocated;
        this.heapless = heapless;
    }

    /** Maps {@code bytes}, a multiple of {@link #ALIGNMENT}. */
    static Mapping map(long bytes) throws ErrnoException {
        if (LinuxKernel.INSTANCE.platform().isAvailable()) {
            return mapPages(bytes);
        }
        return NativeMemory.isAvailable() ? allocate(bytes) : allocateDirect(bytes);
    }

    /** Returns an address for memory whose own cannot be asked for. */
    static long inventAddress(long bytes) {
        return NEXT_INVENTED.getAndAdd((bytes + 2L * ALIGNMENT - 1) & -ALIGNMENT);
    }

    /** Returns how many mappings have been retired since the process began. */
    static int retiredCount() {
        return RETIRED.get();
    }

    static void countRetired() {
        RETIRED.incrementAndGet();
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public boolean isRetired() {
        return retired;
    }

    ByteBuffer buffer(long offset, int length) {
        return heapless == null
                ? NativeMemory.view(address + offset, length)
                : heapless.slice((int) offset, length).order(ByteOrder.nativeOrder());
    }

    void fill(long offset, long length, byte value) {
        if (heapless == null) {
            NativeMemory.fill(address + offset, length, value);
            return;
        }
        for (long i = offset; i < offset + length; i++) {
            heapless.put((int) i, value);
        }
    }

    /** Gives the memory back, except that a direct buffer is left to the garbage collector. */
    void retire() {
        retired = true;
        countRetired();
        if (allocated != 0) {
            NativeMemory.free(allocated);
        } else if (heapless == null) {
            LibC.munmap(address, bytes);
        }
        INDICES.give(index);
    }

    private static Mapping mapPages(long bytes) throws ErrnoException {
        int flags = LibC.MAP_PRIVATE | LibC.MAP_ANONYMOUS;
        long address = LibC.orErrno(LibC.mmap(0, bytes, LibC.PROT_READ_WRITE, flags, -1, 0));
        if (address < 0) {
            throw new ErrnoException("mapping of " + bytes + " bytes", "mmap", (int) -address);
        }
        if (bytes >= HUGE_PAGE_BYTES) {
            // Fewer page faults, and fewer pages to pin; where the system says no, small pages do.
            LibC.madvise(address, bytes, LibC.MADV_HUGEPAGE);
        }
        return new Mapping(address, bytes, 0, null);
    }

    private static Mapping allocate(long bytes) throws ErrnoException {
        long allocated = NativeMemory.allocate(bytes + ALIGNMENT);
        if (allocated == 0) {
            throw new ErrnoException("allocation of " + bytes + " bytes", "malloc", Errno.ENOMEM);
        }
        long address = (allocated + ALIGNMENT - 1) & -ALIGNMENT;
        NativeMemory.fill(address, bytes, (byte) 0); // malloc may hand out what a library of this process left there
        return new Mapping(address, bytes, allocated, null);
    }

    private static Mapping allocateDirect(long bytes) throws ErrnoException {
        try {
            ByteBuffer memory = ByteBuffer.allocateDirect(Math.toIntExact(bytes));
            return new Mapping(inventAddress(bytes), bytes, 0, memory);
        } catch (ArithmeticException | OutOfMemoryError none) {
            throw new ErrnoException("allocation of " + bytes + " bytes", "allocateDirect", Errno.ENOMEM);
        }
    }
}
