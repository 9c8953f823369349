// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import io.penstock.ImageRegion;
import io.penstock.engine.spi.Limits;
import org.jspecify.annotations.Nullable;

/**
 * Cuts bytes that are contiguous in one file and in one target into segments: a head up to the first offset that is
 * aligned in both, a body of direct requests, a tail. Reusable; one thread.
 *
 * <p>All arithmetic is on lengths and distances, never on the end of a range: offsets reach {@link Long#MAX_VALUE}, and
 * a cover may end beyond it.
 */
final class Run {

    private final long bounceBytes;

    private Limits limits = Limits.none(1);
    private long address; // of offset 0 of the target
    private @Nullable ImageRegion image;

    private long file; // where the run starts
    private long target;
    private long headEnd; // all three from the start of the run; no body if headEnd == bodyEnd
    private long bodyEnd;
    private long total;
    private long unit; // a body segment starts where file and memory are aligned: a multiple of this from headEnd on
    private long step; // bytes of a body segment, a multiple of unit

    private long position; // of the current segment, from the start of the run
    private long bytes;
    private boolean bounce;
    private long lead; // bytes of the cover before the current segment
    private long coverBytes;

    /** Creates a run; covers are at most {@code bounceBytes} long. */
    Run(long bounceBytes) {
        this.bounceBytes = bounceBytes;
    }

    /** Sets the constraints of the following runs. */
    void within(Limits limits, long address, @Nullable ImageRegion image) {
        this.limits = limits;
        this.address = address;
        this.image = image;
        this.unit = image == null ? Math.max(limits.fileAlignment(), limits.memoryAlignment()) : limits.fileAlignment();
        this.step = Math.max(limits.segmentBytes() - limits.segmentBytes() % unit, unit);
    }

    /**
     * Starts a run; {@link #next} moves to its first segment.
     *
     * @param slack how many bytes past its end a request may overwrite in memory
     */
    void start(long fileOffset, long targetOffset, long bytes, long slack) {
        this.file = fileOffset;
        this.target = targetOffset;
        this.total = bytes;
        this.position = 0;
        this.bytes = 0;
        long head = step > limits.maxBytes() ? -1 : distanceToBody();
        if (head < 0 || head >= bytes) {
            headEnd = bytes;
            bodyEnd = bytes;
        } else {
            long rest = bytes - head;
            boolean roundsUp = (-rest & (limits.fileAlignment() - 1)) <= slack;
            long body = roundsUp ? rest : rest & -limits.fileAlignment();
            headEnd = body == 0 ? bytes : head;
            bodyEnd = headEnd + (body == 0 ? 0 : body);
        }
    }

    // Bytes to the first offset that is aligned in the file and in memory; -1 if there is none.
    private long distanceToBody() {
        long fileMask = limits.fileAlignment() - 1;
        if (image != null) {
            // Every row must start at a block. The address of an image in memory is unknown.
            ImageRegion.Layout layout = image.layout();
            long rows = layout.rowPitch() | layout.slicePitch();
            // A row longer than a segment would be cut at a block, which may be within a texel.
            boolean torn = fileMask != 0 && layout.rowPitch() > step && unit % layout.texelBytes() != 0;
            return !torn && ((file | rows) & fileMask) == 0 ? 0 : -1;
        }
        long memoryMask = limits.memoryAlignment() - 1;
        long memory = address + target;
        if (fileMask >= memoryMask) {
            long distance = -file & fileMask;
            return ((memory + distance) & memoryMask) == 0 ? distance : -1;
        }
        long distance = -memory & memoryMask;
        return ((file + distance) & fileMask) == 0 ? distance : -1;
    }

    /** Moves to the next segment; returns false if there is none. */
    boolean next() {
        position += bytes;
        if (position >= total) {
            position = total;
            bytes = 0;
            return false;
        }
        bounce = position < headEnd || position >= bodyEnd;
        if (bounce) {
            bounce(position < headEnd ? headEnd : total);
        } else {
            body();
        }
        return true;
    }

    private void body() {
        long room = bodyEnd - position;
        lead = 0;
        if (image != null) {
            bytes = Math.min(room, wholeRows(image.layout(), step));
        } else if (bodyEnd - headEnd <= limits.segmentBytes()) {
            bytes = room; // never two requests for what one can carry
        } else {
            // Cut at multiples of step in the file, shifted to where memory is aligned too.
            long phase = (file + headEnd) & (unit - 1);
            bytes = Math.min(room, step - (file + position - phase) % step);
        }
        coverBytes = bytes;
    }

    private void bounce(long end) {
        long block = limits.fileAlignment();
        long bounce = Math.min(bounceBytes, limits.maxBytes()) & -block;
        if (bounce == 0) {
            throw new IllegalStateException(
                    "a bounce buffer must have at least one block of " + block + " bytes, had " + bounceBytes);
        }
        lead = (file + position) & (block - 1);
        // Segments but the last end with their cover, so that no block is in two covers of a run (except for image
        // rows).
        long room = bounce - lead;
        bytes = Math.min(end - position, image == null ? room : wholeRows(image.layout(), room));
        coverBytes = (lead + bytes + block - 1) & -block;
    }

    // As many whole slices as there is room for, else whole rows of one slice, else whole texels of one row.
    private long wholeRows(ImageRegion.Layout layout, long room) {
        long inSlice = (target + position) % layout.slicePitch();
        long restOfSlice = layout.slicePitch() - inSlice;
        if (inSlice == 0 && room >= restOfSlice) {
            return room - room % layout.slicePitch();
        }
        if (room >= restOfSlice) {
            return restOfSlice;
        }
        long inRow = inSlice % layout.rowPitch();
        if (inRow == 0 && room >= layout.rowPitch()) {
            return room - room % layout.rowPitch();
        }
        long restOfRow = layout.rowPitch() - inRow;
        return room >= restOfRow ? restOfRow : room - room % layout.texelBytes();
    }

    /** Returns true if the current segment uses a bounce buffer. */
    boolean isBounce() {
        return bounce;
    }

    long fileOffset() {
        return file + position;
    }

    long targetOffset() {
        return target + position;
    }

    long bytes() {
        return bytes;
    }

    long coverOffset() {
        return file + position - lead;
    }

    long coverBytes() {
        return coverBytes;
    }
}
