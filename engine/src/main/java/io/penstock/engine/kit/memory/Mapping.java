// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.memory;

import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A range of memory from the operating system, aligned to {@link #ALIGNMENT}, from which slabs are cut.
 *
 * <p><b>Ownership:</b> {@link #retire} frees it, once; its size class calls it when no slab uses the mapping.
 */
public final class Mapping {
    static final int ALIGNMENT = 4096;

    private static final long HUGE_PAGE_BYTES = 2L << 20;
    private static final long CHECKED_BYTES = 64 << 10;
    private static final AtomicLong NEXT_INVENTED = new AtomicLong(ALIGNMENT);

    /** The range as rings register it. */
    final MemoryMapping range;

    final long address;
    final long bytes;
    int liveSlabs; // guarded by the size class

    private final long allocated; // the result of malloc, or 0
    private final @Nullable ByteBuffer heapless; // without JNA: holds the memory

    private Mapping(long address, long bytes, long allocated, @Nullable ByteBuffer heapless) {
        range = new MemoryMapping(address, bytes);
        this.address = address;
        this.bytes = bytes;
        this.allocated = allocated;
        this.heapless = heapless;
    }

    /** Maps {@code bytes}, a multiple of {@link #ALIGNMENT}. */
    public static Mapping map(long bytes) throws ErrnoException {
        if (Machine.isSupported() && NativeMemory.isAvailable()) {
            return mapPages(bytes);
        }
        return NativeMemory.isAvailable() ? allocate(bytes) : allocateDirect(bytes);
    }

    /** Returns a unique number in place of an address that cannot be determined. */
    public static long inventAddress(long bytes) {
        return NEXT_INVENTED.getAndAdd((bytes + 2L * ALIGNMENT - 1) & -ALIGNMENT);
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

    /** Returns true if all bytes of the range are {@code value}. */
    boolean isFilled(long offset, long length, byte value) {
        byte[] expected = new byte[(int) Math.min(length, CHECKED_BYTES)];
        Arrays.fill(expected, value);
        for (long done = 0; done < length; done += CHECKED_BYTES) {
            int bytes = (int) Math.min(length - done, CHECKED_BYTES);
            if (buffer(offset + done, bytes).mismatch(ByteBuffer.wrap(expected, 0, bytes)) >= 0) {
                return false;
            }
        }
        return true;
    }

    /** Lets the kernel take its pages when it needs memory, until they are written to again. */
    void giveUp() {
        if (allocated == 0 && heapless == null) {
            LibC.madvise(address, bytes, LibC.MADV_FREE);
        }
    }

    /** Frees the memory; a direct buffer is left to the garbage collector. */
    public void retire() {
        range.retire();
        if (allocated != 0) {
            NativeMemory.free(allocated);
        } else if (heapless == null) {
            LibC.munmap(address, bytes);
        }
    }

    private static Mapping mapPages(long bytes) throws ErrnoException {
        int flags = LibC.MAP_PRIVATE | LibC.MAP_ANONYMOUS;
        long address = LibC.orErrno(LibC.mmap(0, bytes, LibC.PROT_READ_WRITE, flags, -1, 0));
        if (address < 0) {
            throw new ErrnoException("mapping of " + bytes + " bytes", "mmap", (int) -address);
        }
        if (bytes >= HUGE_PAGE_BYTES) {
            // Fewer page faults, and fewer pages to pin; if the system refuses, small pages are used.
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
        NativeMemory.fill(address, bytes, (byte) 0); // malloc may return memory with old content of this process
        return new Mapping(address, bytes, allocated, null);
    }

    private static Mapping allocateDirect(long bytes) throws ErrnoException {
        try {
            ByteBuffer memory = ByteBuffer.allocateDirect(Math.toIntExact(bytes + ALIGNMENT))
                    .alignedSlice(ALIGNMENT) // as its invented address is
                    .slice(0, (int) bytes);
            return new Mapping(inventAddress(bytes), bytes, 0, memory);
        } catch (ArithmeticException | OutOfMemoryError none) {
            throw new ErrnoException("allocation of " + bytes + " bytes", "allocateDirect", Errno.ENOMEM);
        }
    }
}
