// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.kit.memory.HostMemory;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.tck.TckSubject;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Host memory from a pool of its own that poisons what is released, so that a test sees every slab come and go.
 *
 * @param io how files are read and written
 * @param slabs the pool
 * @param amidCopies runs amid each copy that the processor makes to or from a buffer; null for none
 */
record PoisonedSubject(HostIo io, Slabs slabs, @Nullable Runnable amidCopies) implements TckSubject {

    static PoisonedSubject over(FaultSubject subject) {
        return new PoisonedSubject(subject.io(), new Slabs(true), null);
    }

    @Override
    public String backend() {
        return "host";
    }

    @Override
    public TransferPath path() {
        return TransferPath.HOST;
    }

    @Override
    public Path folder() {
        return new FaultSubject(io).folder();
    }

    @Override
    public Options options() {
        return Options.none().with(HostOptions.IO, io);
    }

    @Override
    public Backend open(Options options) {
        Options resolved = options.resolve(Backends.options());
        return Engine.open(backend(), new Driver(slabs, amidCopies), List.of(HostPath.open(resolved, slabs)), resolved);
    }

    @Override
    public Map<String, Long> live() {
        return Map.of("slabs", slabs.liveSlabs(), "slabs written to after they were freed", slabs.overwritten());
    }

    /** A slab that runs an action between the check of a view and the copy itself. */
    private record WatchedSlab(Slab slab, Runnable amidCopy) implements HostMemory {

        @Override
        public ByteBuffer buffer(long offset, int length) {
            ByteBuffer buffer = slab.buffer(offset, length);
            amidCopy.run();
            return buffer;
        }

        @Override
        public long bytes() {
            return slab.bytes();
        }

        @Override
        public long hostAddress() {
            return slab.hostAddress();
        }

        @Override
        public void free() {
            slab.free();
        }
    }

    private record Driver(Slabs slabs, @Nullable Runnable amidCopies) implements DeviceDriver {

        @Override
        public Capabilities capabilities() {
            return new Capabilities(
                    "poisoned memory", true, Set.of(path()), FenceSupport.HOST_ONLY, true, false, Set.of());
        }

        private static TransferPath path() {
            return TransferPath.HOST;
        }

        @Override
        public DeviceMemory allocate(long bytes) {
            Slab slab = slabs.allocate(bytes);
            return amidCopies == null ? slab : new WatchedSlab(slab, amidCopies);
        }

        @Override
        public DeviceMemory wrap(long nativeHandle, long bytes) {
            return HostMemory.wrap(nativeHandle, bytes);
        }

        @Override
        public DeviceMemory wrap(ByteBuffer memory) {
            return HostMemory.wrap(memory);
        }

        @Override
        public DeviceFence fence(long nativeEvent) {
            throw new IllegalArgumentException("host memory has no native fences");
        }

        @Override
        public void close() {
            slabs.trim();
        }
    }
}
