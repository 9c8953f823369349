// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

/**
 * A device that is fed through slots: memory that both the host's I/O and the device reach.
 *
 * <p><b>Threading:</b> {@link #allocateSlot} on any thread; {@link #copyIn}, {@link #copyOut}, {@link #poll} and
 * {@link #await} on executor threads only, as {@link #threads()} says.
 */
public interface StagingDevice {

    /** Returns which threads may copy. */
    ThreadRule threads();

    /**
     * Allocates a slot whose {@link DeviceMemory#hostAddress()} is not 0 and a multiple of 4096.
     *
     * @throws io.penstock.TransientStorageException if there is no pinned memory left
     */
    DeviceMemory allocateSlot(long bytes);

    /**
     * Starts copying from a slot to the device; where the command has a {@link Command#point}, the copy joins it, and
     * the caller says so when this has returned.
     *
     * @param command a COPY_IN; read before this returns
     * @return a ticket for {@link #poll}, at least 0, or a negative number for {@link #failure}
     */
    long copyIn(Command command);

    /** Starts copying from the device to a slot; as {@link #copyIn}, for a COPY_OUT. */
    long copyOut(Command command);

    /**
     * Looks whether a copy has ended; does not block. A ticket that has ended is forgotten by the device.
     *
     * @return 0 while it runs, 1 once it has ended, or a negative number for {@link #failure}
     */
    long poll(long ticket);

    /**
     * Waits for a copy to end, for about {@code nanos}; answers as {@link #poll}. Called by fused fillers only
     * ({@link ThreadRule#MANY}), which serve other devices too: one that hangs must not keep them for ever.
     */
    long await(long ticket, long nanos);

    /** Returns what a negative number means. */
    NativeFailure failure(Command.Kind kind, long result);
}
