// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx.ffi;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.Pointer;
import io.penstock.engine.kit.ffi.NativeMemory;

/**
 * A function that UCX calls, in {@code ucp_worker_progress}, on the thread of that.
 *
 * <p><b>Ownership:</b> UCX must not call it once this object is unreachable.
 */
public final class UcpCallback {

    /** Takes an active message ({@code ucp_am_recv_callback_t}). Must not throw. */
    @FunctionalInterface
    public interface MessageHandler {

        /**
         * Takes a message.
         *
         * @param data the data, or its descriptor if {@link Ucp#UCP_AM_RECV_ATTR_FLAG_RNDV} is set
         * @param attributes {@code recv_attr}
         * @return {@link UcsStatus#OK}, or {@link UcsStatus#INPROGRESS} to keep the data or its descriptor
         */
        int received(long header, long headerBytes, long data, long bytes, long attributes);
    }

    /** Takes the error of an endpoint ({@code ucp_err_handler_cb_t}). Must not throw. */
    @FunctionalInterface
    public interface ErrorHandler {

        /** Takes the error after which the endpoint does not transfer any more. */
        void failed(int status);
    }

    interface MessageFunction extends Callback {
        int call(long argument, long header, long headerBytes, long data, long bytes, long parameters);
    }

    interface ErrorFunction extends Callback {
        void call(long argument, long endpoint, int status);
    }

    private final Callback function; // strongly referenced: JNA does not do so
    private final long address;

    private UcpCallback(Callback function) {
        this.function = function;
        this.address = Pointer.nativeValue(CallbackReference.getFunctionPointer(function));
    }

    /** Returns a function that passes on the messages of a worker. */
    public static UcpCallback of(MessageHandler handler) {
        MessageFunction function = (argument, header, headerBytes, data, bytes, parameters) -> handler.received(
                header,
                headerBytes,
                data,
                bytes,
                NativeMemory.view(parameters, Long.BYTES).getLong(0));
        return new UcpCallback(function);
    }

    /** Returns a function that passes on the error of an endpoint. */
    public static UcpCallback of(ErrorHandler handler) {
        ErrorFunction function = (argument, endpoint, status) -> handler.failed(status);
        return new UcpCallback(function);
    }

    /** Returns the address of the function. */
    public long address() {
        return address;
    }

    @Override
    public String toString() {
        return function + " at 0x" + Long.toHexString(address);
    }
}
