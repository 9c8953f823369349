// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.ffi.Errno;
import io.penstock.engine.ffi.NativeMemory;
import io.penstock.engine.host.FileCalls;
import io.penstock.engine.host.Kernel;
import io.penstock.engine.host.RingAvailability;
import java.util.HashMap;
import java.util.Map;
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
    private int nextFd = 3;
    private int errors;
    private boolean ringWasBusy;

    SimulatedKernel(World world, Faults faults, SimulatedMemory memory, SimulatedFiles files) {
        this.world = world;
        this.faults = faults;
        this.memory = memory;
        this.files = files;
    }

    /** Returns how many operations have failed for good. */
    int errors() {
        return errors;
    }

    void errorNoted() {
        errors++;
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
        return ring == null ? -Errno.EBADF : ring.map(length, offset);
    }

    @Override
    public int unmap(long address, long length) {
        return 0; // the ring holds its memory, so that a use after this does not crash but is wrong
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
        eventfds.put(nextFd, new EventFd());
        return nextFd++;
    }

    @Override
    public int eventfdSignal(int fd) {
        EventFd counter = eventfds.get(fd);
        if (counter == null) {
            throw new Violation("a wake of a lane that has ended");
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
            return 0;
        }
        return eventfds.remove(fd) == null ? -Errno.EBADF : 0;
    }

    @Override
    public FileCalls files() {
        return files;
    }
}
