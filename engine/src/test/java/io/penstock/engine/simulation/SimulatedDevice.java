// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.NativeError;
import io.penstock.engine.simulation.SimulatedMemory.Given;
import io.penstock.engine.spi.Command;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.StagingDevice;
import io.penstock.engine.spi.ThreadRule;
import java.util.HashSet;
import java.util.Set;

/** A device whose copies end late and in any order; source and target are touched at the end. */
final class SimulatedDevice implements StagingDevice {

    private final SimulatedKernel kernel;
    private final World world;
    private final ThreadRule threads;
    private final Set<Long> running = new HashSet<>();
    private long tickets;
    private long ended;

    SimulatedDevice(SimulatedKernel kernel) {
        this.kernel = kernel;
        this.world = kernel.world;
        threads = world.chance.oneIn(2) ? ThreadRule.MANY : ThreadRule.ONE;
    }

    /** Returns how many copies have ended. */
    long ended() {
        return ended;
    }

    @Override
    public ThreadRule threads() {
        return threads;
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return kernel.memory.allocateSlot(bytes);
    }

    @Override
    public long copyIn(Command command) {
        return start(command, true);
    }

    @Override
    public long copyOut(Command command) {
        return start(command, false);
    }

    private long start(Command command, boolean in) {
        int bytes = (int) command.bytes();
        Given slot = kernel.memory.given(command.slot().hostAddress() + command.slotOffset(), bytes);
        Given memory = kernel.memory.given(command.memory().nativeHandle() + command.memoryOffset(), bytes);
        long ticket = tickets++;
        running.add(ticket);
        world.say("device: begins copy", ticket, "of", bytes, in ? "in" : "out");
        world.later(world.chance.oneIn(kernel.faults.slow()) ? 100_000 : world.chance.below(3000), () -> {
            (in ? memory : slot).touch().put((in ? slot : memory).touch());
            running.remove(ticket);
            ended++;
            world.say("device: ends copy", ticket);
        });
        return ticket;
    }

    @Override
    public long poll(long ticket) {
        return running.contains(ticket) ? 0 : 1;
    }

    @Override
    public long await(long ticket, long nanos) {
        world.await(() -> !running.contains(ticket), nanos);
        return poll(ticket);
    }

    @Override
    public NativeFailure failure(Command.Kind kind, long result) {
        return new NativeFailure(new NativeError("copy", result, ""), NativeFailure.Kind.PERMANENT);
    }
}
