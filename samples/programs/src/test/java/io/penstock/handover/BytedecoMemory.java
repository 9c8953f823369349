// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import io.penstock.BufferRegion;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.opencl._cl_mem;

/** Bytedeco: a subclass of Pointer sets the address. In its CUDA driver API a CUdeviceptr is a number. */
final class BytedecoMemory {

    private BytedecoMemory() {}

    /** A pointer that frees nothing: for CUDA's runtime API, cuBLAS, cuDNN, and memory of the host. */
    static final class RegionPointer extends BytePointer {
        RegionPointer(BufferRegion region) {
            address = region.buffer().nativeHandle() + region.offset();
            capacity = region.length();
            limit = region.length();
        }
    }

    /** The buffer's cl_mem; offsets of regions are arguments of OpenCL's calls. */
    static final class ClMemory extends _cl_mem {
        ClMemory(BufferRegion region) {
            address = region.buffer().nativeHandle();
        }
    }
}
