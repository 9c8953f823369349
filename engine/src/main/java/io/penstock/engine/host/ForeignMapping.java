// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

/**
 * A range of memory that a device's driver has mapped for long, and that rings may register. Where the kernel refuses,
 * since such memory may have no pages that can be locked, it is used unregistered.
 *
 * <p><b>Ownership:</b> whoever maps the memory calls {@link #retire} once, before the mapping goes.
 */
public final class ForeignMapping implements Registrable {

    private final int index = Mapping.INDICES.take();
    private final long address;
    private final long bytes;
    private volatile boolean retired;

    /** Describes one. */
    public ForeignMapping(long address, long bytes) {
        this.address = address;
        this.bytes = bytes;
    }

    @Override
    public int index() {
        return index;
    }

    @Override
    public long address() {
        return address;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public boolean isRetired() {
        return retired;
    }

    /** Says that it goes: rings let go of its pages. No operation uses it any more. */
    public void retire() {
        retired = true;
        Mapping.countRetired();
        Mapping.INDICES.give(index);
    }
}
