// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.engine.simulation.SimulatedMemory.Given;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.HashSet;
import java.util.Set;

/** A device whose copies end late and in any order; source and target are touched at the end. */
final class SimulatedDevice implements StagingDevice {

    private final SimulatedKernel kernel;
    private final World world;
    private final ThreadRule threads;
    private final Set<Request> running = new HashSet<>();
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
    public DeviceMemory allocateStagingBuffer(long bytes) {
        return kernel.memory.allocateBounceBuffer(bytes);
    }

    @Override
    public void copy(Request copy) {
        int bytes = (int) copy.bytes();
        boolean in = copy.isInward();
        Given bounce = kernel.memory.given(copy.staging().hostAddress() + copy.stagingOffset(), bytes);
        Given memory = kernel.memory.given(copy.memory().nativeHandle() + copy.memoryOffset(), bytes);
        running.add(copy);
        world.say("device: begins copy", copy.tag(), "of", bytes, in ? "in" : "out");
        world.later(world.chance.oneIn(kernel.faults.slow()) ? 100_000 : world.chance.below(3000), () -> {
            (in ? memory : bounce).touch().put((in ? bounce : memory).touch());
            running.remove(copy);
            ended++;
            world.say("device: ends copy", copy.tag());
        });
    }

    @Override
    public void poll(Request copy) {
        if (!running.contains(copy)) {
            copy.complete(copy.bytes());
        }
    }

    @Override
    public void await(Request copy, long nanos) {
        world.await(() -> !running.contains(copy), nanos);
        poll(copy);
    }
}
