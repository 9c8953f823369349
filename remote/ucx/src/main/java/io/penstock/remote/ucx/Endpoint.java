// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.remote.ucx.UcxContext.Struct;
import io.penstock.remote.ucx.ffi.Ucp;
import io.penstock.remote.ucx.ffi.UcpCallback;
import java.io.IOException;

/**
 * A UCX worker with one endpoint, for active messages with peer error handling.
 *
 * <p><b>Threading:</b> one thread at a time; {@link #signal} on any.
 */
final class Endpoint {

    private static final int MESSAGE_ID = 1;
    private static final int MOST_TRANSPORT_BYTES = 512; // zeros behind an address: UCX trusts the lengths in it
    private static final int POLLFD_BYTES = 8;
    private static final int POLLFD_EVENTS_OFFSET = 4;

    private final UcpCallback messages; // as long as the worker lasts
    private final UcpCallback errors;
    private final long worker;
    private final Struct parameters; // of requests
    private final Struct pollDescriptor;
    private long endpoint;

    private Endpoint(UcxContext context, UcpCallback messages, UcpCallback errors) throws IOException {
        this.messages = messages;
        this.errors = errors;
        this.worker = context.worker();
        this.parameters = Struct.of(Ucp.REQUEST_PARAM_BYTES);
        parameters.fields().putInt(0, Ucp.UCP_OP_ATTR_FIELD_MEMORY_TYPE);
        this.pollDescriptor = Struct.of(POLLFD_BYTES);
    }

    /**
     * Creates a worker.
     *
     * @param messages called with messages, in {@link #progress}
     * @param errors called when the endpoint has failed, in {@link #progress}
     */
    static Endpoint open(UcpCallback messages, UcpCallback errors) throws IOException {
        Endpoint endpoint = new Endpoint(UcxContext.get(), messages, errors);
        try {
            endpoint.prepare();
            return endpoint;
        } catch (IOException | RuntimeException | Error e) {
            endpoint.destroy();
            throw e;
        }
    }

    private void prepare() throws IOException {
        int[] descriptor = new int[1];
        UcxContext.check("ucp_worker_get_efd", Ucp.ucp_worker_get_efd(worker, descriptor));
        pollDescriptor.fields().putInt(0, descriptor[0]).putShort(POLLFD_EVENTS_OFFSET, LibC.POLLIN);
        try (Struct params = Struct.of(Ucp.AM_HANDLER_BYTES)) {
            params.fields()
                    .putLong(
                            0,
                            Ucp.UCP_AM_HANDLER_PARAM_FIELD_ID
                                    | Ucp.UCP_AM_HANDLER_PARAM_FIELD_FLAGS
                                    | Ucp.UCP_AM_HANDLER_PARAM_FIELD_CB)
                    .putInt(Ucp.AM_HANDLER_ID_OFFSET, MESSAGE_ID)
                    .putInt(Ucp.AM_HANDLER_FLAGS_OFFSET, Ucp.UCP_AM_FLAG_PERSISTENT_DATA)
                    .putLong(Ucp.AM_HANDLER_CB_OFFSET, messages.address());
            int status = Ucp.ucp_worker_set_am_recv_handler(worker, params.address());
            UcxContext.check("ucp_worker_set_am_recv_handler", status);
        }
    }

    /** Returns the address of the worker, for {@link #connect} of the peer. */
    byte[] address() throws IOException {
        long[] address = new long[1];
        long[] length = new long[1];
        UcxContext.check("ucp_worker_get_address", Ucp.ucp_worker_get_address(worker, address, length));
        byte[] bytes = new byte[(int) length[0]];
        NativeMemory.view(address[0], bytes.length).get(bytes);
        Ucp.ucp_worker_release_address(worker, address[0]);
        return bytes;
    }

    /** Connects to the worker at an address; called once. */
    void connect(byte[] peer) throws IOException {
        long[] made = new long[1];
        try (Struct address = Struct.of(peer.length + MOST_TRANSPORT_BYTES);
                Struct params = Struct.of(Ucp.EP_PARAMS_BYTES)) {
            address.fields().put(peer);
            params.fields()
                    .putLong(
                            0,
                            Ucp.UCP_EP_PARAM_FIELD_REMOTE_ADDRESS
                                    | Ucp.UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE
                                    | Ucp.UCP_EP_PARAM_FIELD_ERR_HANDLER)
                    .putLong(Ucp.EP_PARAMS_ADDRESS_OFFSET, address.address())
                    .putInt(Ucp.EP_PARAMS_ERR_MODE_OFFSET, Ucp.UCP_ERR_HANDLING_MODE_PEER)
                    .putLong(Ucp.EP_PARAMS_ERR_HANDLER_OFFSET, errors.address());
            UcxContext.check("ucp_ep_create", Ucp.ucp_ep_create(worker, params.address(), made));
            endpoint = made[0];
        }
    }

    /** Sends a message with data in memory of a type; returns 0 if it is sent, a request, or a negative status. */
    long send(long header, long data, long bytes, int memoryType) {
        parameters.fields().putInt(Ucp.REQUEST_PARAM_MEMORY_TYPE_OFFSET, memoryType);
        return Ucp.ucp_am_send_nbx(endpoint, MESSAGE_ID, header, Message.BYTES, data, bytes, parameters.address());
    }

    /** Fetches data by its descriptor into memory of a type; returns as {@link #send}. */
    long receive(long descriptor, long memory, long bytes, int memoryType) {
        parameters.fields().putInt(Ucp.REQUEST_PARAM_MEMORY_TYPE_OFFSET, memoryType);
        return Ucp.ucp_am_recv_data_nbx(worker, descriptor, memory, bytes, parameters.address());
    }

    /** Drops data that was kept. */
    void release(long data) {
        Ucp.ucp_am_data_release(worker, data);
    }

    /** Returns whether anything was done. */
    boolean progress() {
        return Ucp.ucp_worker_progress(worker) != 0;
    }

    /** Prepares {@link #poll}; returns a status, which is BUSY if there is work. */
    int arm() {
        return Ucp.ucp_worker_arm(worker);
    }

    /** Waits for work or a signal; negative for no limit. */
    void poll(int millis) {
        LibC.poll(pollDescriptor.address(), 1, millis);
    }

    /** Ends {@link #poll}; not after {@link #destroy}. */
    void signal() {
        Ucp.ucp_worker_signal(worker);
    }

    /** Closes the endpoint, after which all operations end with an error; returns as {@link #send}. */
    long close() {
        try (Struct params = Struct.of(Ucp.REQUEST_PARAM_BYTES)) {
            params.fields()
                    .putInt(0, Ucp.UCP_OP_ATTR_FIELD_FLAGS)
                    .putInt(Ucp.REQUEST_PARAM_FLAGS_OFFSET, Ucp.UCP_EP_CLOSE_FLAG_FORCE);
            return Ucp.ucp_ep_close_nbx(endpoint, params.address());
        }
    }

    /** Destroys the worker; UCX uses no memory of its operations any more. */
    void destroy() {
        Ucp.ucp_worker_destroy(worker);
        parameters.close();
        pollDescriptor.close();
    }
}
