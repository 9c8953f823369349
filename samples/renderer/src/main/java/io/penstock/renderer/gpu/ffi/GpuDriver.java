// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.gpu.ffi;

import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.Pointer;
import io.penstock.backend.cufile.CudaStream;
import io.penstock.backend.hip.HipStream;
import java.nio.Buffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The driver API of CUDA, or of HIP, which copies it, by CUDA's names without prefix and version. The library is the
 * one that the open backend has loaded, which an option may name, or which lies where the system's loader does not
 * look: another one does not know the backend's memory. Each function returns the vendor's result, 0 for success.
 */
public interface GpuDriver extends Library {

    int STREAM_NON_BLOCKING = 1;
    int EVENT_DISABLE_TIMING = 2;

    /** Opens CUDA's. */
    static GpuDriver cuda() {
        return open(CudaStream.library(), (library, method) -> switch (method.getName()) {
            case "memAlloc", "memFree", "memcpyHtoDAsync", "memcpyDtoHAsync", "streamDestroy", "eventDestroy" ->
                symbol("cu", method.getName()) + "_v2";
            default -> symbol("cu", method.getName());
        });
    }

    /** Opens HIP's, where a context is the ordinal of a device. */
    static GpuDriver hip() {
        return open(HipStream.library(), (library, method) -> switch (method.getName()) {
            case "ctxSetCurrent" -> "hipSetDevice";
            case "errorName" -> "hipGetErrorName";
            case "launchKernel" -> "hipModuleLaunchKernel";
            case "memAlloc" -> "hipMalloc";
            case "memFree" -> "hipFree";
            case "streamCreate", "eventCreate" -> symbol("hip", method.getName()) + "WithFlags";
            default -> symbol("hip", method.getName());
        });
    }

    private static GpuDriver open(String library, FunctionMapper symbols) {
        return Native.load(library, GpuDriver.class, options(symbols));
    }

    /** Returns options for JNA, by which functions have a vendor's names, and other libraries do not see them. */
    static Map<String, Object> options(FunctionMapper symbols) {
        return Map.of(Library.OPTION_FUNCTION_MAPPER, symbols, Library.OPTION_OPEN_FLAGS, 1 /* RTLD_LAZY */);
    }

    /** Returns the name of a function, from its name here. */
    static String symbol(String prefix, String name) {
        return prefix + Character.toUpperCase(name.charAt(0)) + name.substring(1);
    }

    /** Returns CUDA's name of a result. */
    static String cudaName(GpuDriver driver, int error) {
        long[] name = new long[1];
        return driver.getErrorName(error, name) == 0 ? new Pointer(name[0]).getString(0) : "CUresult";
    }

    int getErrorName(int error, long[] name);

    /** Returns HIP's name of a result. */
    String errorName(int error);

    int deviceGetAttribute(int[] value, int attribute, int device);

    int ctxGetDevice(int[] device);

    int ctxSetCurrent(long context);

    int pointerGetAttribute(long[] value, int attribute, long address);

    int moduleLoadData(long[] module, byte[] image);

    int moduleUnload(long module);

    int moduleGetFunction(long[] function, long module, String name);

    int launchKernel(
            long function,
            int gridX,
            int gridY,
            int gridZ,
            int blockX,
            int blockY,
            int blockZ,
            int sharedBytes,
            long stream,
            Pointer parameters,
            @Nullable Pointer extra);

    int streamCreate(long[] stream, int flags);

    int streamSynchronize(long stream);

    int streamDestroy(long stream);

    int eventCreate(long[] event, int flags);

    int eventRecord(long event, long stream);

    int eventDestroy(long event);

    int memAlloc(long[] address, long bytes);

    int memFree(long address);

    int memcpyHtoDAsync(long to, Buffer from, long bytes, long stream);

    int memcpyDtoHAsync(Buffer to, long from, long bytes, long stream);
}
