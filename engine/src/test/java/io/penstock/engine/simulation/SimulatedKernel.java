// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.FileCalls;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.host.kernel.RingAvailability;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.simulation.Operation.Descriptor;
import io.penstock.engine.simulation.Operation.Extent;
import io.penstock.engine.simulation.SimulatedMemory.Given;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.ObjIntConsumer;
import org.jspecify.annotations.Nullable;

/** A kernel that reads real submissions from real ring memory, and answers as kernels may, by chance. */
final class SimulatedKernel implements Kernel {

    /** A counter that a ring can read and any thread can add to. */
    static final class EventFd {
        long count;

        @Nullable
        Runnable reader; // a pending read
    }

    final World world;
    final Faults faults;
    final SimulatedMemory memory;
    final SimulatedFiles files;
    private final Map<Integer, SimulatedRing> rings = new HashMap<>();
    private final Map<Integer, EventFd> eventfds = new HashMap<>();
    static final int DEVICE_ERROR = 719; // no errno

    private int nextFd = 3;
    private final Set<String> errors = new HashSet<>(); // of operations and calls that have failed for good
    private final List<SimulatedRing> closedRings = new ArrayList<>();
    private boolean ringWasBusy;
    private @Nullable SimulatedFileSystem channels;

    SimulatedKernel(World world, Faults faults, SimulatedMemory memory, SimulatedFiles files) {
        this.world = world;
        this.faults = faults;
        this.memory = memory;
        this.files = files;
        files.blockingCalls(this);
        files.refuse(
                file -> {
                    if (!world.chance.oneIn(faults.call())) {
                        return 0;
                    }
                    errorNoted(file, Errno.EIO);
                    return Errno.EIO;
                },
                () -> world.chance.oneIn(faults.call()));
    }

    /** Has files opened by channels of the JDK from now on. */
    void useChannels() {
        channels = new SimulatedFileSystem(this);
    }

    /** Returns whether files are opened by channels of the JDK. */
    boolean usesChannels() {
        return channels != null;
    }

    /** Returns the path by which a file is to be opened. */
    Path path(SimulatedFile file) {
        return channels == null ? Path.of("/", file.name) : channels.path(file);
    }

    /** Returns whether an operation on any file, or a call, has failed for good. */
    boolean hasFailed() {
        return !errors.isEmpty();
    }

    /** Returns whether an operation on a file has failed with this error, or a copy of the device. */
    boolean hasFailed(SimulatedFile file, long errno) {
        return errors.contains(file.name + " " + errno) || (errno == DEVICE_ERROR && errors.contains("device"));
    }

    void deviceErrorNoted() {
        errors.add("device");
    }

    void errorNoted(SimulatedFile file, int errno) {
        world.say("kernel: fails with", errno, "on", file.name);
        errors.add(file.name + " " + errno);
    }

    /** Reads, writes or syncs a file while the caller waits; answers bytes or {@code -errno}. */
    long call(
            byte opcode, Descriptor descriptor, Extent extent, long address, ObjIntConsumer<SimulatedFile> errorNoted) {
        Chance chance = world.chance;
        Given given = opcode == IoUring.IORING_OP_FSYNC ? null : memory.given(address, extent.bytes());
        int early = extent.bytes() == 0 ? 0 : chance.below(extent.bytes() + 1);
        Operation operation = new Operation(0, opcode, descriptor, extent, given, early);
        if (operation.isMisaligned(address)) {
            return -Errno.EINVAL;
        }
        world.say("kernel: begins call", operation);
        boolean[] over = {false};
        world.later(chance.oneIn(faults.slow()) ? chance.below(3_000_000) : chance.below(2000), () -> over[0] = true);
        world.await(() -> over[0], -1);
        int result = operation.end(chance, faults, errorNoted);
        world.say("kernel: ends call", operation, "with", result);
        return result;
    }

    private boolean refuses() {
        boolean refused = world.chance.oneIn(faults.setup());
        if (refused) {
            errors.add("setup");
        }
        return refused;
    }

    @Nullable
    EventFd eventfd(int fd) {
        return eventfds.get(fd);
    }

    /** Looks for what was left behind. */
    void checkClosed() {
        if (!rings.isEmpty() || !eventfds.isEmpty() || files.openCount() != 0) {
            throw new Violation("601: left open: " + rings.size() + " rings, " + eventfds.size() + " counters, "
                    + files.openCount() + " files");
        }
        if (!closedRings.stream().allMatch(SimulatedRing::isLeftAlone)) {
            throw new Violation("601: the memory of a ring was written after it was unmapped");
        }
        if (ringWasBusy) {
            throw new Violation("102: a ring was closed while operations were in flight");
        }
    }

    @Override
    public RingAvailability platform() {
        return RingAvailability.AVAILABLE;
    }

    @Override
    public int ioUringSetup(int entries, long params) {
        if (refuses()) {
            return -Errno.ENOMEM;
        }
        rings.put(nextFd, new SimulatedRing(this, entries, NativeMemory.view(params, 120)));
        return nextFd++;
    }

    @Override
    public int ioUringEnter(int fd, int submit, int minComplete, int flags, long argument, long argumentBytes) {
        SimulatedRing ring = rings.get(fd);
        if (ring == null) {
            return -Errno.EBADF;
        }
        if (world.chance.oneIn(6)) {
            world.pause(); // others may act before the kernel looks
        }
        int answer = ring.enter(submit, minComplete, flags, argumentBytes == 0 ? 0 : argument);
        world.say("kernel: enter of ring", fd, "with", submit, "waiting for", minComplete, "answers", answer);
        return answer;
    }

    @Override
    public int ioUringRegister(int fd, int opcode, long argument, int count) {
        SimulatedRing ring = rings.get(fd);
        return ring == null ? -Errno.EBADF : ring.tables.register(opcode, argument, count);
    }

    @Override
    public int ioUringDisabled() {
        return 0;
    }

    @Override
    public long map(int fd, long length, long offset) {
        SimulatedRing ring = rings.get(fd);
        return ring == null ? -Errno.EBADF : refuses() ? -Errno.ENOMEM : ring.map(length, offset);
    }

    @Override
    public int unmap(long address, long length) {
        for (SimulatedRing ring : rings.values()) {
            if (ring.unmap(address, length)) {
                return 0;
            }
        }
        throw new Violation("an unmap of what is not mapped");
    }

    @Override
    public int poll(long pollfd, int timeoutMillis) {
        SimulatedRing ring = rings.get(NativeMemory.view(pollfd, 8).getInt(0));
        if (ring == null) {
            return -Errno.EBADF;
        }
        return world.await(ring::hasCompletions, timeoutMillis * 1_000_000L) ? 1 : 0;
    }

    @Override
    public int eventfd() {
        if (refuses()) {
            return -Errno.ENOMEM;
        }
        eventfds.put(nextFd, new EventFd());
        return nextFd++;
    }

    @Override
    public int eventfdSignal(int fd) {
        EventFd counter = eventfds.get(fd);
        if (counter == null) {
            throw new Violation("a wake of an I/O queue that has ended");
        }
        counter.count++;
        Runnable reader = counter.reader;
        if (reader != null) {
            counter.reader = null;
            world.soon(reader);
        }
        return 8;
    }

    @Override
    public int close(int fd) {
        SimulatedRing ring = rings.remove(fd);
        if (ring != null) {
            ringWasBusy |= ring.isBusy();
            closedRings.add(ring);
            return 0;
        }
        return eventfds.remove(fd) == null ? -Errno.EBADF : 0;
    }

    @Override
    public FileCalls files() {
        return files;
    }
}
