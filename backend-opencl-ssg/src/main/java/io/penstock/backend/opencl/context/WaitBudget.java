// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

/**
 * Bounds the part of an I/O queue taken by commands that wait on the device for imported events. The rest must stay
 * free: the application's work before its signal may itself need a transfer.
 *
 * <p>Thread-safe.
 */
public final class WaitBudget {

    private final long mostCommands;
    private final long mostBytes;
    private long commands;
    private long bytes;

    public WaitBudget(long mostCommands, long mostBytes) {
        this.mostCommands = mostCommands;
        this.mostBytes = mostBytes;
    }

    /** Takes room for a transfer; returns false if there is none now. */
    synchronized boolean take(long newCommands, long newBytes) {
        if (newCommands > mostCommands - commands || newBytes > mostBytes - bytes) {
            return false;
        }
        commands += newCommands;
        bytes += newBytes;
        return true;
    }

    /** Frees what was taken. */
    synchronized void give(long oldCommands, long oldBytes) {
        commands -= oldCommands;
        bytes -= oldBytes;
    }
}
