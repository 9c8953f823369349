// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.NativeError;
import io.penstock.engine.simulation.SimulatedMemory.Given;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** A device whose copies end late and in any order; source and target are touched at the end. */
final class SimulatedDevice implements StagingDevice {

    private final SimulatedKernel kernel;
    private final World world;
    private final ThreadRule threads;
    private final Set<Request> running = new HashSet<>();
    private final Map<Request, NativeFailure> failed = new HashMap<>(); // which nobody has asked for yet
    private long ended;
    private boolean lost; // as its user knows

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

    /** Returns why a copy is to fail; null if it is not. */
    private @Nullable NativeFailure failure() {
        Chance chance = world.chance;
        if (!chance.oneIn(kernel.faults.copy())) {
            return null;
        }
        Kind kind = chance.pick(List.of(Kind.PERMANENT, Kind.PERMANENT, Kind.RETRY, Kind.LOST));
        kernel.deviceErrorNoted();
        return new NativeFailure(new NativeError("copy", SimulatedKernel.DEVICE_ERROR, kind.name()), kind);
    }

    @Override
    public void copy(Request copy) {
        if (lost) {
            throw new Violation("401: a copy of a device that is lost");
        }
        NativeFailure refused = failure();
        if (refused != null) {
            lost = refused.kind() == Kind.LOST;
            copy.fail(refused);
            return;
        }
        int bytes = (int) copy.bytes();
        boolean in = copy.isInward();
        Given bounce = kernel.memory.given(copy.staging().hostAddress() + copy.stagingOffset(), bytes);
        Given memory = kernel.memory.given(copy.memory().nativeHandle() + copy.memoryOffset(), bytes);
        running.add(copy);
        world.say("device: begins copy", copy.tag(), "of", bytes, in ? "in" : "out");
        world.later(world.chance.oneIn(kernel.faults.slow()) ? 100_000 : world.chance.below(3000), () -> {
            NativeFailure failure = failure();
            ByteBuffer moved = (in ? bounce : memory).touch();
            moved.limit(failure == null ? bytes : world.chance.below(bytes));
            (in ? memory : bounce).touch().put(moved);
            if (failure != null) {
                failed.put(copy, failure);
            }
            running.remove(copy);
            ended++;
            world.say("device: ends copy", copy.tag(), failure == null ? "" : failure);
        });
    }

    @Override
    public void poll(Request copy) {
        if (!running.contains(copy)) {
            NativeFailure failure = failed.remove(copy);
            lost |= failure != null && failure.kind() == Kind.LOST;
            copy.end(copy.bytes(), failure);
        }
    }

    @Override
    public void await(Request copy, long nanos) {
        world.await(() -> !running.contains(copy), nanos);
        poll(copy);
    }
}
