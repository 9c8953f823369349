// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import static org.lwjgl.opencl.CL10.CL_CONTEXT_DEVICES;
import static org.lwjgl.opencl.CL10.CL_MEM_CONTEXT;
import static org.lwjgl.opencl.CL10.CL_SUCCESS;
import static org.lwjgl.opencl.CL10.clEnqueueReadBuffer;
import static org.lwjgl.opencl.CL10.clGetContextInfo;
import static org.lwjgl.opencl.CL10.clGetMemObjectInfo;
import static org.lwjgl.opencl.CL10.clReleaseCommandQueue;

import io.penstock.BufferRegion;
import java.nio.ByteBuffer;
import org.lwjgl.PointerBuffer;
import org.lwjgl.cuda.CU;
import org.lwjgl.opencl.CL10;
import org.lwjgl.system.MemoryStack;

/** LWJGL: CUdeviceptr, cl_mem and names of OpenGL are numbers there. */
final class LwjglMemory {

    private LwjglMemory() {}

    /** Copies from the GPU, whose context is current on this thread, to a direct buffer. */
    static void fromCuda(BufferRegion region, ByteBuffer target) {
        int result = CU.cuMemcpyDtoH(target, region.buffer().nativeHandle() + region.offset());
        if (result != CU.CUDA_SUCCESS) {
            throw new IllegalStateException("cuMemcpyDtoH -> " + result);
        }
    }

    /** Copies from an OpenCL device, by a queue in the context of the memory, which has one device. */
    static void fromOpenCl(BufferRegion region, ByteBuffer target) {
        long memory = region.buffer().nativeHandle();
        try (MemoryStack stack = MemoryStack.stackPush()) {
            PointerBuffer context = stack.mallocPointer(1);
            check("clGetMemObjectInfo", clGetMemObjectInfo(memory, CL_MEM_CONTEXT, context, null));
            PointerBuffer device = stack.mallocPointer(1);
            check("clGetContextInfo", clGetContextInfo(context.get(0), CL_CONTEXT_DEVICES, device, null));
            long queue = CL10.clCreateCommandQueue(context.get(0), device.get(0), 0, stack.mallocInt(1));
            try {
                check(
                        "clEnqueueReadBuffer",
                        clEnqueueReadBuffer(queue, memory, true, region.offset(), target, null, null));
            } finally {
                clReleaseCommandQueue(queue);
            }
        }
    }

    private static void check(String call, int result) {
        if (result != CL_SUCCESS) {
            throw new IllegalStateException(call + " -> " + result);
        }
    }
}
