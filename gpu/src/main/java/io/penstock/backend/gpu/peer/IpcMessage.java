// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.peer;

import io.penstock.backend.gpu.api.DriverApi;
import io.penstock.backend.gpu.context.GpuContext;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.UUID;

/**
 * What an exporter sends to each process that connects.
 *
 * @param process a random number of the exporting process; its pid may be the pid of another process in another
 *     container
 * @param gpu the UUID of the GPU
 * @param handle the {@code CUipcMemHandle} of the allocation, in an array of its own
 * @param offset where in the allocation the exported range starts
 * @param bytes the length of the range
 */
record IpcMessage(UUID process, UUID gpu, ByteBuffer handle, long offset, long bytes) {

    /** The size of a message. */
    static final int BYTES = 8 + 16 + 16 + DriverApi.IPC_HANDLE_BYTES + 8 + 8;

    /** Identifies this process. */
    static final UUID THIS_PROCESS = UUID.randomUUID();

    private static final long MAGIC = 0x50454e5354495031L; // "PENSTIP1": the number of the layout is its last digit

    /**
     * Creates the message for a range of a context's memory.
     *
     * @throws UnsupportedOperationException if the driver provides no handle of it
     * @throws io.penstock.DeviceLostException if the context is lost
     */
    static IpcMessage of(GpuContext context, long address, long bytes) {
        long[] base = new long[1];
        byte[] handle = new byte[DriverApi.IPC_HANDLE_BYTES];
        DriverApi driver = context.driver();
        int found = context.attempt(() -> driver.memGetAddressRange(base, new long[1], address));
        check(driver, address, "memGetAddressRange", found);
        check(driver, address, "ipcGetMemHandle", context.attempt(() -> driver.ipcGetMemHandle(handle, base[0])));
        return new IpcMessage(THIS_PROCESS, gpu(context), ByteBuffer.wrap(handle), address - base[0], bytes);
    }

    private static void check(DriverApi driver, long address, String entry, int result) {
        if (result != DriverApi.SUCCESS && driver.foreignCause(result).isEmpty()) {
            throw new UnsupportedOperationException(
                    "no IPC handle of the memory at 0x" + Long.toHexString(address) + ": it must be of "
                            + driver.call("memAlloc") + " in this process; " + driver.error(entry, result));
        }
        driver.check("export of the memory at 0x" + Long.toHexString(address), entry, result);
    }

    /** Returns the UUID of a context's GPU. */
    static UUID gpu(GpuContext context) {
        byte[] uuid = new byte[16];
        int result = context.driver().deviceGetUuid(uuid, context.gpu().device());
        context.driver().check("query of " + context.gpu(), "deviceGetUuid", result);
        return uuid(ByteBuffer.wrap(uuid));
    }

    private static UUID uuid(ByteBuffer from) {
        return new UUID(from.getLong(), from.getLong());
    }

    /** Returns its bytes, in network order. */
    ByteBuffer encoded() {
        ByteBuffer to = ByteBuffer.allocate(BYTES).putLong(MAGIC);
        for (UUID uuid : new UUID[] {process, gpu}) {
            to.putLong(uuid.getMostSignificantBits()).putLong(uuid.getLeastSignificantBits());
        }
        return to.put(handle.duplicate()).putLong(offset).putLong(bytes).flip();
    }

    /**
     * Reads a whole message.
     *
     * @throws IOException if these bytes are not a message of this version, or its range is none
     */
    static IpcMessage decoded(ByteBuffer from) throws IOException {
        long magic = from.getLong();
        if (magic != MAGIC) {
            throw new IOException("message of an exporter must start with 0x" + Long.toHexString(MAGIC) + ", was 0x"
                    + Long.toHexString(magic));
        }
        UUID process = uuid(from);
        UUID gpu = uuid(from);
        byte[] handle = new byte[DriverApi.IPC_HANDLE_BYTES];
        from.get(handle);
        long offset = from.getLong();
        long bytes = from.getLong();
        if (offset < 0 || bytes < 0 || offset > Long.MAX_VALUE - bytes) {
            throw new IOException(
                    "message of an exporter must have a range of memory, was " + bytes + " bytes at " + offset);
        }
        return new IpcMessage(process, gpu, ByteBuffer.wrap(handle), offset, bytes);
    }
}
