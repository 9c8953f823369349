// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx.ffi;

import io.penstock.engine.kit.ffi.VendorLibrary;
import java.util.List;

/**
 * UCX's protocol layer ({@code libucp.so.0}), by the names of {@code ucp.h}, as of version 1.10 or newer.
 *
 * <p>A structure is read as far as its mask of fields allows, so that these layouts fit later versions. A function that
 * starts an operation returns 0 if it has ended, a request, or a negative status: {@link #isError}. A function that an
 * older library lacks returns {@link UcsStatus#UNSUPPORTED}. None may be called before {@link #LIBRARY} is loaded.
 */
public final class Ucp {

    /** The version of the interface that is used: {@code ucp_init_version} warns about an older library. */
    public static final int API_MAJOR = 1;

    public static final int API_MINOR = 10;

    /** {@code ucp_params_t}. */
    public static final int PARAMS_BYTES = 80;

    public static final int PARAMS_FEATURES_OFFSET = 8;
    public static final int PARAMS_MT_WORKERS_SHARED_OFFSET = 48;
    public static final int UCP_PARAM_FIELD_FEATURES = 1;
    public static final int UCP_PARAM_FIELD_MT_WORKERS_SHARED = 1 << 5;
    public static final int UCP_FEATURE_WAKEUP = 1 << 4;
    public static final int UCP_FEATURE_AM = 1 << 6;

    /** {@code ucp_worker_params_t}. */
    public static final int WORKER_PARAMS_BYTES = 200;

    public static final int WORKER_PARAMS_THREAD_MODE_OFFSET = 8;
    public static final int UCP_WORKER_PARAM_FIELD_THREAD_MODE = 1;
    public static final int UCS_THREAD_MODE_SINGLE = 0;

    /** {@code ucp_ep_params_t}. */
    public static final int EP_PARAMS_BYTES = 104;

    public static final int EP_PARAMS_ADDRESS_OFFSET = 8;
    public static final int EP_PARAMS_ERR_MODE_OFFSET = 16;
    public static final int EP_PARAMS_ERR_HANDLER_OFFSET = 24;
    public static final int UCP_EP_PARAM_FIELD_REMOTE_ADDRESS = 1;
    public static final int UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE = 1 << 1;
    public static final int UCP_EP_PARAM_FIELD_ERR_HANDLER = 1 << 2;
    public static final int UCP_ERR_HANDLING_MODE_PEER = 1;

    /** {@code ucp_am_handler_param_t}. */
    public static final int AM_HANDLER_BYTES = 32;

    public static final int AM_HANDLER_ID_OFFSET = 8;
    public static final int AM_HANDLER_FLAGS_OFFSET = 12;
    public static final int AM_HANDLER_CB_OFFSET = 16;
    public static final int UCP_AM_HANDLER_PARAM_FIELD_ID = 1;
    public static final int UCP_AM_HANDLER_PARAM_FIELD_FLAGS = 1 << 1;
    public static final int UCP_AM_HANDLER_PARAM_FIELD_CB = 1 << 2;
    public static final int UCP_AM_FLAG_PERSISTENT_DATA = 1 << 1;
    public static final int UCP_AM_RECV_ATTR_FLAG_RNDV = 1 << 17;

    /** {@code ucp_request_param_t}. */
    public static final int REQUEST_PARAM_BYTES = 72;

    public static final int REQUEST_PARAM_FLAGS_OFFSET = 4;
    public static final int REQUEST_PARAM_MEMORY_TYPE_OFFSET = 48;
    public static final int UCP_OP_ATTR_FIELD_FLAGS = 1 << 4;
    public static final int UCP_OP_ATTR_FIELD_MEMORY_TYPE = 1 << 6;
    public static final int UCP_EP_CLOSE_FLAG_FORCE = 1;

    /** {@code ucp_mem_map_params_t}. */
    public static final int MEM_MAP_PARAMS_BYTES = 40;

    public static final int MEM_MAP_PARAMS_ADDRESS_OFFSET = 8;
    public static final int MEM_MAP_PARAMS_LENGTH_OFFSET = 16;
    public static final int MEM_MAP_PARAMS_MEMORY_TYPE_OFFSET = 32;
    public static final int UCP_MEM_MAP_PARAM_FIELD_ADDRESS = 1;
    public static final int UCP_MEM_MAP_PARAM_FIELD_LENGTH = 1 << 1;
    public static final int UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE = 1 << 4;
    public static final int UCS_MEMORY_TYPE_HOST = 0;
    public static final int UCS_MEMORY_TYPE_CUDA = 1;

    /** {@code ucp_context_attr_t}. */
    public static final int CONTEXT_ATTR_BYTES = 64;

    public static final int CONTEXT_ATTR_MEMORY_TYPES_OFFSET = 24;
    public static final int UCP_ATTR_FIELD_MEMORY_TYPES = 1 << 2;

    /** The library, loaded once per process. */
    public static final VendorLibrary LIBRARY = new VendorLibrary(
            Ucp.class,
            "libucp.so.0",
            List.of("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/opt/ucx/lib"),
            UcsStatus.UNSUPPORTED);

    private Ucp() {}

    /** Returns whether the result of a function that starts an operation is a status of an error. */
    public static boolean isError(long request) {
        return request < 0 && request >= UcsStatus.LAST;
    }

    // Context.

    public static native int ucp_config_read(long prefix, long file, long[] config);

    public static native int ucp_config_modify(long config, String name, String value);

    public static native void ucp_config_release(long config);

    public static native int ucp_init_version(int major, int minor, long params, long config, long[] context);

    public static native int ucp_context_query(long context, long attributes);

    public static native int ucp_mem_map(long context, long params, long[] memory);

    public static native int ucp_mem_unmap(long context, long memory);

    // Worker.

    public static native int ucp_worker_create(long context, long params, long[] worker);

    public static native void ucp_worker_destroy(long worker);

    public static native int ucp_worker_get_address(long worker, long[] address, long[] length);

    public static native void ucp_worker_release_address(long worker, long address);

    public static native int ucp_worker_get_efd(long worker, int[] descriptor);

    public static native int ucp_worker_progress(long worker);

    public static native int ucp_worker_arm(long worker);

    /** Makes the descriptor of {@link #ucp_worker_get_efd} readable; any thread. */
    public static native int ucp_worker_signal(long worker);

    public static native int ucp_worker_set_am_recv_handler(long worker, long params);

    // Endpoint and operations.

    public static native int ucp_ep_create(long worker, long params, long[] endpoint);

    public static native long ucp_ep_close_nbx(long endpoint, long params);

    public static native long ucp_am_send_nbx(
            long endpoint, int id, long header, long headerLength, long buffer, long count, long params);

    public static native long ucp_am_recv_data_nbx(long worker, long data, long buffer, long count, long params);

    public static native void ucp_am_data_release(long worker, long data);

    public static native int ucp_request_check_status(long request);

    public static native void ucp_request_free(long request);
}
