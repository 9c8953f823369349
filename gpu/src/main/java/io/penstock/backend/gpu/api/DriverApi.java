// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.api;

import io.penstock.NativeError;
import io.penstock.PenstockException;
import io.penstock.engine.kit.fence.EventWatch;
import io.penstock.engine.spi.NativeFailure;
import java.util.Locale;
import java.util.function.IntSupplier;

/**
 * A vendor's driver API as a table: one entry for each function, by CUDA's name without prefix and version, which the
 * vendor's class binds to its own. CUDA and HIP agree in parameters, flags and in the numbers of the errors that are
 * told apart here. All functions return the vendor's result, as the arguments of JNA: output parameters are arrays of
 * one, addresses and handles are {@code long}.
 */
public abstract class DriverApi {

    public static final int SUCCESS = 0;
    public static final int INVALID_VALUE = 1;
    public static final int OUT_OF_MEMORY = 2;
    public static final int NO_DEVICE = 100;
    public static final int INVALID_CONTEXT = 201;
    public static final int INVALID_HANDLE = 400;
    public static final int NOT_FOUND = 500;
    public static final int NOT_READY = 600;
    public static final int NOT_SUPPORTED = 801;

    public static final int HOST_PORTABLE = 1;
    public static final int HOST_MAPPED = 2;
    public static final int HOST_READ_ONLY = 8;
    public static final int STREAM_NON_BLOCKING = 1;
    public static final int EVENT_DISABLE_TIMING = 2;
    public static final int RANGE_HANDLE_DMA_BUF = 1;
    public static final int IPC_HANDLE_BYTES = 64;

    /**
     * What a vendor calls things.
     *
     * @param vendor {@code CUDA}
     * @param pointer the type of an address on the device
     * @param stream the type of a stream
     * @param event the type of an event
     */
    public record Words(String vendor, String pointer, String stream, String event) {}

    private final ErrorCodes codes;
    private final Words words;
    private final EventWatch events;

    protected DriverApi(ErrorCodes codes, Words words) {
        this.codes = codes;
        this.words = words;
        this.events = new EventWatch("penstock-" + prefix() + "-events");
    }

    public final Words words() {
        return words;
    }

    /** Returns the vendor's word for names of threads and schemes of URIs. */
    public final String prefix() {
        return words.vendor.toLowerCase(Locale.ROOT);
    }

    /** Returns the thread that polls events of this vendor. */
    public final EventWatch events() {
        return events;
    }

    // Errors.

    /** Returns the vendor's name of an entry, for messages. */
    public abstract String call(String entry);

    /** Returns the vendor's name of a result; an empty string if it is unknown. */
    public final String symbol(int result) {
        return codes.symbol(result);
    }

    /**
     * Returns the cause of a broken context, for the results after which every call in it fails ("sticky" ones: see
     * {@code CUresult} in the driver API's manual); empty for all others.
     */
    public final String foreignCause(int result) {
        return switch (result) {
            case 700, 714, 715, 716, 717, 718, 719, 721 ->
                "a kernel in this " + words.vendor + " context, not this transfer, has failed, and the context is lost";
            case 702 ->
                "a kernel in this " + words.vendor
                        + " context exceeded the driver's time limit, and the context is lost";
            case 710 -> "an assertion in a kernel has failed, and the " + words.vendor + " context is lost";
            case 214, 220, 226 -> "the GPU has a hardware fault, and the " + words.vendor + " context is lost";
            case INVALID_CONTEXT, 709 -> "the " + words.vendor + " context was destroyed by its creator";
            case 3, 4 -> "the " + words.vendor + " driver has shut down in this process";
            case 46, 810 ->
                "the GPU is no longer available: another process holds it, or its MPS server has ended this client";
            default -> "";
        };
    }

    public final NativeError error(String entry, int result) {
        return new NativeError(call(entry), result, symbol(result));
    }

    /** Returns the failure of a transfer. */
    public final NativeFailure failure(String entry, int result) {
        return failureOf(call(entry), result);
    }

    /** As above, of a call by its name for messages. */
    public final NativeFailure failureOf(String call, int result) {
        return new NativeFailure(new NativeError(call, result, symbol(result)), kind(result), foreignCause(result));
    }

    private NativeFailure.Kind kind(int result) {
        if (!foreignCause(result).isEmpty()) {
            return NativeFailure.Kind.LOST;
        }
        return result == OUT_OF_MEMORY ? NativeFailure.Kind.TRANSIENT : NativeFailure.Kind.PERMANENT;
    }

    /** Throws unless {@code result} is a success. */
    public final void check(String request, String entry, int result) {
        if (result != SUCCESS) {
            throw exception(request, entry, result);
        }
    }

    /** Returns the exception for a failed device request that is not a transfer. */
    public final PenstockException exception(String request, String entry, int result) {
        return failure(entry, result).exception(request);
    }

    /**
     * Runs a call in a context, on any thread, and restores the thread's own context afterwards. Returns the call's
     * result, or why the context cannot be made current.
     */
    public final int in(long context, IntSupplier call) {
        int pushed = ctxPushCurrent(context);
        if (pushed != SUCCESS) {
            return pushed;
        }
        try {
            return call.getAsInt();
        } finally {
            ctxPopCurrent(new long[1]);
        }
    }

    // What vendors do differently.

    /** Returns why a GPU cannot read memory that is mapped read-only, or an empty string. */
    public abstract String whyNotMapped(int device);

    /** Returns why a GPU has no dma-bufs, or an empty string. */
    public abstract String whyNoDmaBuf(int device);

    /** Returns the granularity in which memory for peers is allocated; 0 if it is unknown. A context is current. */
    public abstract long peerGranularity(int device);

    /**
     * Describes what an address points to.
     *
     * @param found receives 1 for memory of a device or else 0, its ordinal, and its context or 0
     * @return {@link #INVALID_VALUE} if the driver does not know the address
     */
    public abstract int describe(long pointer, long[] found);

    /** Opens memory of another process in the current context; {@code handle} has {@link #IPC_HANDLE_BYTES}. */
    public abstract int ipcOpenMemHandle(long[] pointer, byte[] handle);

    // Devices and contexts.

    public abstract int deviceCanAccessPeer(int[] can, int device, int peer);

    public abstract int deviceGet(int[] device, int ordinal);

    public abstract int deviceGetCount(int[] count);

    public abstract int deviceGetName(byte[] name, int bytes, int device);

    public abstract int deviceGetPCIBusId(byte[] id, int bytes, int device);

    /** Fills 16 bytes. */
    public abstract int deviceGetUuid(byte[] uuid, int device);

    public abstract int devicePrimaryCtxRelease(int device);

    public abstract int devicePrimaryCtxRetain(long[] context, int device);

    public abstract int deviceTotalMem(long[] bytes, int device);

    public abstract int ctxEnablePeerAccess(long peer, int flags);

    public abstract int ctxPopCurrent(long[] context);

    public abstract int ctxPushCurrent(long context);

    public abstract int ctxSetCurrent(long context);

    // Memory.

    public abstract int memAlloc(long[] pointer, long bytes);

    public abstract int memFree(long pointer);

    public abstract int memFreeHost(long address);

    public abstract int memGetAddressRange(long[] base, long[] bytes, long pointer);

    public abstract int memGetHandleForAddressRange(int[] handle, long pointer, long bytes, int type, long flags);

    public abstract int memHostAlloc(long[] address, long bytes, int flags);

    public abstract int memHostGetDevicePointer(long[] device, long address, int flags);

    public abstract int memHostRegister(long address, long bytes, int flags);

    public abstract int memHostUnregister(long address);

    public abstract int memcpyAsync(long to, long from, long bytes, long stream);

    public abstract int memcpyDtoHAsync(long target, long source, long bytes, long stream);

    public abstract int memcpyHtoDAsync(long target, long source, long bytes, long stream);

    public abstract int memcpyPeerAsync(
            long target, long targetContext, long source, long sourceContext, long bytes, long stream);

    public abstract int memsetD8Async(long address, byte value, long bytes, long stream);

    public abstract int ipcCloseMemHandle(long pointer);

    /** Fills {@link #IPC_HANDLE_BYTES} bytes. */
    public abstract int ipcGetMemHandle(byte[] handle, long pointer);

    // Streams and events.

    public abstract int streamCreate(long[] stream, int flags);

    public abstract int streamDestroy(long stream);

    public abstract int streamQuery(long stream);

    public abstract int streamSynchronize(long stream);

    public abstract int streamWaitEvent(long stream, long event, int flags);

    public abstract int streamWriteValue32(long stream, long address, int value, int flags);

    public abstract int eventCreate(long[] event, int flags);

    public abstract int eventDestroy(long event);

    public abstract int eventQuery(long event);

    public abstract int eventRecord(long event, long stream);

    public abstract int eventSynchronize(long event);
}
