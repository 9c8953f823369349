// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * The processors on which a thread may run.
 *
 * <p>Source: sched_setaffinity(2); {@code local_cpulist} of PCI devices in sysfs
 * (Documentation/ABI/testing/sysfs-bus-pci).
 *
 * @param processors their numbers; empty for all that the process may use
 */
public record CpuSet(List<Integer> processors) {

    /** All processors that the process may use. */
    public static final CpuSet ANY = new CpuSet(List.of());

    private static final Path DEVICES = Path.of("/sys/bus/pci/devices");
    private static final int MASK_BYTES = 1024; // of 8192 processors, the most that Linux is built for

    /** Copies the list. */
    public CpuSet {
        processors = List.copyOf(processors);
    }

    @Override
    public boolean equals(Object other) { // written out: the JVM makes it by method handles, slow at the first call
        return other instanceof CpuSet set && processors.equals(set.processors);
    }

    @Override
    public int hashCode() {
        return processors.hashCode();
    }

    /**
     * Returns the processors near a PCI device: the processors of its NUMA node, as far as the process may use them.
     * {@link #ANY} if these are all or none, or the system does not tell.
     *
     * @param address as the kernel writes it, {@code 0000:3b:00.0}; upper case is accepted
     */
    public static CpuSet near(String address) {
        return isAvailable() ? near(DEVICES, address, allowed(LibC.getpid())) : ANY;
    }

    private static boolean isAvailable() {
        return Machine.isSupported() && NativeMemory.isAvailable();
    }

    static CpuSet near(Path devices, String address, BitSet allowed) {
        BitSet near;
        try {
            Path file = devices.resolve(address.toLowerCase(Locale.ROOT)).resolve("local_cpulist");
            near = parse(Files.readString(file).strip());
        } catch (IOException | InvalidPathException | IndexOutOfBoundsException | NumberFormatException e) {
            return ANY;
        }
        near.and(allowed);
        return near.isEmpty() || near.equals(allowed)
                ? ANY
                : new CpuSet(near.stream().boxed().toList());
    }

    /** Parses a list such as {@code 0-15,32-47}. */
    private static BitSet parse(String list) {
        BitSet processors = new BitSet();
        for (String range : list.split(",")) {
            String[] ends = range.split("-", 2);
            processors.set(Integer.parseInt(ends[0]), Integer.parseInt(ends[ends.length - 1]) + 1);
        }
        return processors;
    }

    /** Returns the processors on which a thread may run; none if the system does not tell. */
    static BitSet allowed(int thread) {
        byte[] mask = new byte[MASK_BYTES];
        return LibC.sched_getaffinity(thread, MASK_BYTES, mask) == 0 ? BitSet.valueOf(mask) : new BitSet();
    }

    /**
     * Makes the calling thread run on these processors from now on, and threads that it starts. If the system refuses,
     * the thread runs where it did.
     */
    public void bind() {
        if (isAvailable()) {
            bind(equals(ANY) ? allowed(LibC.getpid()) : mask());
        }
    }

    private BitSet mask() {
        BitSet mask = new BitSet();
        processors.forEach(mask::set);
        return mask;
    }

    private static void bind(BitSet mask) {
        byte[] bytes = new byte[MASK_BYTES];
        byte[] used = mask.toByteArray();
        System.arraycopy(used, 0, bytes, 0, used.length);
        int unused = LibC.sched_setaffinity(0, MASK_BYTES, bytes);
    }

    /**
     * Returns what {@code work} returns, which the calling thread does on these processors: memory that it is the first
     * to write lies on their NUMA node. Does it wherever the thread runs if this is {@link #ANY}.
     */
    public <T> T call(Supplier<T> work) {
        if (equals(ANY) || !isAvailable()) {
            return work.get();
        }
        BitSet before = allowed(0);
        bind(mask());
        try {
            return work.get();
        } finally {
            bind(before);
        }
    }
}
