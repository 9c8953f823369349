// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

/**
 * How much of a lane may be commands that wait on the device for events of the application's. More than a part would be
 * too much: what the application does before it signals may itself need a transfer.
 *
 * <p>Thread-safe.
 */
final class WaitBudget {

    private final long mostCommands;
    private final long mostBytes;
    private long commands;
    private long bytes;

    WaitBudget(long mostCommands, long mostBytes) {
        this.mostCommands = mostCommands;
        this.mostBytes = mostBytes;
    }

    /** Takes room for a transfer; false if there is none now. */
    synchronized boolean take(long newCommands, long newBytes) {
        if (newCommands > mostCommands - commands || newBytes > mostBytes - bytes) {
            return false;
        }
        commands += newCommands;
        bytes += newBytes;
        return true;
    }

    /** Gives back what was taken. */
    synchronized void give(long oldCommands, long oldBytes) {
        commands -= oldCommands;
        bytes -= oldBytes;
    }
}
