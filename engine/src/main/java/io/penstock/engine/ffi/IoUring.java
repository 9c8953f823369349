// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ffi;

/**
 * io_uring's constants and layouts, named as in {@code linux/io_uring.h}.
 *
 * <p>{@code ..._OFFSET} constants are byte offsets in the structure that they name.
 */
public final class IoUring {
    public static final byte IORING_OP_NOP = 0;
    public static final byte IORING_OP_FSYNC = 3;
    public static final byte IORING_OP_READ_FIXED = 4;
    public static final byte IORING_OP_WRITE_FIXED = 5;
    public static final byte IORING_OP_POLL_ADD = 6;
    public static final byte IORING_OP_ASYNC_CANCEL = 14;
    public static final byte IORING_OP_READ = 22;
    public static final byte IORING_OP_WRITE = 23;
    public static final byte IORING_OP_OPENAT2 = 28;

    /** The bytes of {@code struct open_how}: flags, mode, resolve. */
    public static final int OPEN_HOW_BYTES = 24;

    /** For {@code resolve}: no other mount, not by a link either. */
    public static final int RESOLVE_NO_XDEV = 1;

    public static final int IOSQE_FIXED_FILE = 1;
    public static final int IOSQE_ASYNC = 1 << 4;
    public static final int IORING_FSYNC_DATASYNC = 1;

    public static final int IORING_SETUP_CQSIZE = 1 << 3;
    public static final int IORING_SETUP_CLAMP = 1 << 4;

    public static final int IORING_FEAT_SINGLE_MMAP = 1;
    public static final int IORING_FEAT_NODROP = 1 << 1;
    public static final int IORING_FEAT_SUBMIT_STABLE = 1 << 2;
    public static final int IORING_FEAT_EXT_ARG = 1 << 8;

    public static final int IORING_ENTER_GETEVENTS = 1;
    public static final int IORING_ENTER_EXT_ARG = 1 << 3;
    public static final int IORING_SQ_CQ_OVERFLOW = 1 << 1;

    public static final long IORING_OFF_SQ_RING = 0;
    public static final long IORING_OFF_SQES = 0x10000000L;

    public static final int IORING_REGISTER_FILES = 2;
    public static final int IORING_REGISTER_FILES_UPDATE = 6;
    public static final int IORING_REGISTER_PROBE = 8;
    public static final int IORING_REGISTER_BUFFERS2 = 15;
    public static final int IORING_REGISTER_BUFFERS_UPDATE = 16;
    public static final int IORING_REGISTER_IOWQ_MAX_WORKERS = 19;
    public static final int IORING_RSRC_REGISTER_SPARSE = 1;
    public static final int IO_URING_OP_SUPPORTED = 1;

    public static final int SQE_BYTES = 64;
    public static final int SQE_FD_OFFSET = 4;
    public static final int SQE_OFF_OFFSET = 8;
    public static final int SQE_ADDR_OFFSET = 16;
    public static final int SQE_LEN_OFFSET = 24;
    public static final int SQE_RW_FLAGS_OFFSET = 28;
    public static final int SQE_USER_DATA_OFFSET = 32;
    public static final int SQE_BUF_INDEX_OFFSET = 40;
    public static final int SQE_ADDR3_OFFSET = 48;

    public static final int CQE_BYTES = 16;
    public static final int CQE_RES_OFFSET = 8;
    public static final int CQE_FLAGS_OFFSET = 12;

    public static final int PARAMS_BYTES = 120;
    public static final int PARAMS_SQ_ENTRIES_OFFSET = 0;
    public static final int PARAMS_CQ_ENTRIES_OFFSET = 4;
    public static final int PARAMS_FLAGS_OFFSET = 8;
    public static final int PARAMS_FEATURES_OFFSET = 20;
    public static final int PARAMS_SQ_OFF_OFFSET = 40;
    public static final int PARAMS_CQ_OFF_OFFSET = 80;

    public static final int SQ_OFF_HEAD_OFFSET = 0;
    public static final int SQ_OFF_TAIL_OFFSET = 4;
    public static final int SQ_OFF_FLAGS_OFFSET = 16;
    public static final int SQ_OFF_ARRAY_OFFSET = 24;
    public static final int CQ_OFF_HEAD_OFFSET = 0;
    public static final int CQ_OFF_TAIL_OFFSET = 4;
    public static final int CQ_OFF_CQES_OFFSET = 20;

    private IoUring() {}
}
