// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.controller;

import io.penstock.NativeError;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFailure.Kind;

/** The status field of completion queue entries: symbols, and what the caller can do. */
public final class Status {

    /** The status of a command that has succeeded. */
    public static final int SUCCESS = 0;

    /** The status that the host gives to commands that a reset has ended. */
    public static final int HOST_ABORTED = 0x371;

    static final int ABORT_REQUESTED = 0x007;

    private static final int CODE_MASK = 0x7ff; // status code type and status code, as Linux has them in one number
    private static final int DO_NOT_RETRY = 1 << 14;

    private Status() {}

    /**
     * Returns the failure of a command.
     *
     * @param command its name in the specification, such as {@code Read}
     * @param status the status field without the phase bit
     */
    public static NativeFailure failure(String command, int status) {
        int code = status & CODE_MASK;
        return new NativeFailure(new NativeError("NVMe " + command, code, symbol(code)), kind(code, status));
    }

    private static Kind kind(int code, int status) {
        return switch (code) {
            // The namespace becomes ready, or the path changes: later.
            case 0x082, 0x084, 0x303 -> Kind.TRANSIENT;
            // The command was ended from outside: nothing is wrong with it.
            case ABORT_REQUESTED, 0x008, HOST_ABORTED -> Kind.TRANSIENT;
            // Errors of the controller or of the bus, unless the controller excludes a retry.
            case 0x004, 0x006, 0x370 -> (status & DO_NOT_RETRY) == 0 ? Kind.TRANSIENT : Kind.PERMANENT;
            default -> Kind.PERMANENT;
        };
    }

    /** Returns Linux's symbol of the code and its type in a status field, or an empty string. */
    public static String symbol(int status) {
        int code = status & CODE_MASK;
        return switch (code) {
            case 0x001 -> "NVME_SC_INVALID_OPCODE";
            case 0x002 -> "NVME_SC_INVALID_FIELD";
            case 0x003 -> "NVME_SC_CMDID_CONFLICT";
            case 0x004 -> "NVME_SC_DATA_XFER_ERROR";
            case 0x005 -> "NVME_SC_POWER_LOSS";
            case 0x006 -> "NVME_SC_INTERNAL";
            case ABORT_REQUESTED -> "NVME_SC_ABORT_REQ";
            case 0x008 -> "NVME_SC_ABORT_QUEUE";
            case 0x00b -> "NVME_SC_INVALID_NS";
            case 0x00c -> "NVME_SC_CMD_SEQ_ERROR";
            case 0x013 -> "NVME_SC_PRP_INVALID_OFFSET";
            case 0x020 -> "NVME_SC_NS_WRITE_PROTECTED";
            case 0x080 -> "NVME_SC_LBA_RANGE";
            case 0x081 -> "NVME_SC_CAP_EXCEEDED";
            case 0x082 -> "NVME_SC_NS_NOT_READY";
            case 0x083 -> "NVME_SC_RESERVATION_CONFLICT";
            case 0x084 -> "NVME_SC_FORMAT_IN_PROGRESS";
            default -> specificSymbol(code);
        };
    }

    private static String specificSymbol(int code) {
        return switch (code) {
            case 0x100 -> "NVME_SC_CQ_INVALID";
            case 0x101 -> "NVME_SC_QID_INVALID";
            case 0x102 -> "NVME_SC_QUEUE_SIZE";
            case 0x103 -> "NVME_SC_ABORT_LIMIT";
            case 0x180 -> "NVME_SC_BAD_ATTRIBUTES";
            case 0x182 -> "NVME_SC_READ_ONLY";
            case 0x280 -> "NVME_SC_WRITE_FAULT";
            case 0x281 -> "NVME_SC_READ_ERROR";
            case 0x282 -> "NVME_SC_GUARD_CHECK";
            case 0x285 -> "NVME_SC_COMPARE_FAILED";
            case 0x286 -> "NVME_SC_ACCESS_DENIED";
            case 0x287 -> "NVME_SC_UNWRITTEN_BLOCK";
            case 0x300 -> "NVME_SC_INTERNAL_PATH_ERROR";
            case 0x303 -> "NVME_SC_ANA_TRANSITION";
            case 0x370 -> "NVME_SC_HOST_PATH_ERROR";
            case HOST_ABORTED -> "NVME_SC_HOST_ABORTED_CMD";
            default -> "";
        };
    }
}
