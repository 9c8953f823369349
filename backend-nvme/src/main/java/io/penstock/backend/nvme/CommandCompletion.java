// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.backend.nvme.controller.Status;

/**
 * The end of a command of a {@link QueuePairHandle}.
 *
 * @param commandId the identifier (CID) that the submitter has given it, 0 to 65,535
 * @param status the status field without the phase bit: status code in bits 0 to 7, status code type in 8 to 10, DNR in
 *     14; 0 if the command has succeeded
 * @param result command-specific, dword 0 of the entry
 */
public record CommandCompletion(int commandId, int status, int result) {

    /** Returns whether the command has succeeded. */
    public boolean isSuccess() {
        return status == Status.SUCCESS;
    }

    /** Returns Linux's symbol of the status, such as {@code NVME_SC_LBA_RANGE}; empty if it has none. */
    public String symbol() {
        return isSuccess() ? "" : Status.symbol(status);
    }
}
