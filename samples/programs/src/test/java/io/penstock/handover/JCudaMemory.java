// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import io.penstock.BufferRegion;
import jcuda.Pointer;
import jcuda.driver.CUdeviceptr;

/** JCuda: neither of its pointers has a public constructor for an address, but an offset from null is one. */
final class JCudaMemory {

    private JCudaMemory() {}

    /** For the driver API. */
    static CUdeviceptr devicePointer(BufferRegion region) {
        return new CUdeviceptr().withByteOffset(region.buffer().nativeHandle() + region.offset());
    }

    /** For the runtime API, cuBLAS and cuDNN. */
    static Pointer pointer(BufferRegion region) {
        return new Pointer().withByteOffset(region.buffer().nativeHandle() + region.offset());
    }
}
