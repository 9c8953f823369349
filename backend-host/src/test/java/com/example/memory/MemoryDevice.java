// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.Capabilities;
import io.penstock.DeviceFence;
import io.penstock.FenceSupport;
import io.penstock.NativeError;
import io.penstock.TransferPath;
import io.penstock.engine.host.HostMemory;
import io.penstock.engine.host.Slabs;
import io.penstock.engine.spi.DeviceDriver;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.StagingDevice;
import io.penstock.engine.spi.staging.ThreadRule;
import java.nio.ByteBuffer;
import java.util.Set;

/** A device whose copies have ended when they return. */
final class MemoryDevice implements DeviceDriver, StagingDevice {

    private final Fault fault;

    MemoryDevice(Fault fault) {
        this.fault = fault;
    }

    @Override
    public Capabilities capabilities() {
        Set<TransferPath> paths = Set.of(TransferPath.STAGED);
        return new Capabilities("heap", false, paths, FenceSupport.HOST_ONLY, false, false, Set.of());
    }

    @Override
    public DeviceMemory allocate(long bytes) {
        return new HeapMemory(bytes);
    }

    @Override
    public DeviceMemory wrap(long nativeHandle, long bytes) {
        throw new IllegalArgumentException("no handle " + nativeHandle);
    }

    @Override
    public DeviceMemory wrap(ByteBuffer memory) {
        throw new IllegalArgumentException("host memory is not addressed");
    }

    @Override
    public DeviceFence fence(long nativeEvent) {
        throw new IllegalArgumentException("no fences");
    }

    @Override
    public void close() {}

    @Override
    public ThreadRule threads() {
        return ThreadRule.MANY;
    }

    @Override
    public DeviceMemory allocateSlot(long bytes) {
        return Slabs.shared().allocate(bytes);
    }

    @Override
    public void copy(Request copy) {
        if (fault == Fault.COPY_IN_ALWAYS_FAILS && copy.isInward()) {
            copy.fail(new NativeFailure(new NativeError("copy", 5, ""), NativeFailure.Kind.PERMANENT));
            return;
        }
        if (fault != Fault.COPY_OUT_DOES_NOTHING || copy.isInward()) {
            ByteBuffer slot = ((HostMemory) copy.slot()).buffer(copy.slotOffset(), (int) copy.bytes());
            ((HeapMemory) copy.memory()).copy(copy.memoryOffset(), slot, copy.isInward());
        }
        copy.complete(copy.bytes());
    }

    @Override
    public void poll(Request copy) {} // ended when it returned

    @Override
    public void await(Request copy, long nanos) {}
}
