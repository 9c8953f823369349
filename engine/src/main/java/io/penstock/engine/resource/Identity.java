// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.engine.plan.Extents;

/** Identities by which two handles are the same file, or two buffers the same memory. */
public enum Identity implements Extents.Identities {
    /** Files by device and inode, across backends; memory by its native handle, within one. */
    OF;

    private record Memory(Owner owner, long handle) {}

    @Override
    public Object of(StorageFile file) {
        return ((EngineFile) file).nativeFile().identity();
    }

    @Override
    public boolean isBuffer(StorageFile file) {
        return file instanceof BufferFile;
    }

    @Override
    public Object of(DeviceBuffer buffer) {
        EngineBuffer own = (EngineBuffer) buffer;
        return new Memory(own.owner(), own.memory().nativeHandle());
    }
}
