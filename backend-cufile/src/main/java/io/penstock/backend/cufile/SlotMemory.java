// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

/** Whose memory staging slots are, which {@link CufileOptions#SLOT_MEMORY} names. */
public enum SlotMemory {
    /** The driver's, which it has pinned. */
    DRIVER,
    /** Ours, in huge pages where the system has them, which the driver is told to pin. */
    OWN
}
