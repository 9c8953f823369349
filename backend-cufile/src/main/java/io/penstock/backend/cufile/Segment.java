// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import java.util.ArrayList;
import java.util.List;

/** A part of a file's mapping, registered with the driver as one; all but the constants under the lock of {@link Registrations}. */
final class Segment {

    /** What the driver knows of it. */
    enum State {
        /** Nothing. */
        ABSENT,
        /** Nothing yet: a registrar will see to it. */
        WANTED,
        /** A registrar is at it. */
        ARRIVING,
        /** It is pinned, and copies may read it. */
        REGISTERED,
        /** A registrar takes it away. */
        LEAVING
    }

    final FileMapping mapping;
    final int index;
    final long address;
    final long bytes; // whole pages
    final List<MappedCopy> waiting = new ArrayList<>();
    State state = State.ABSENT;
    int copies; // that read it
    long elsewhere; // bytes of it that went another way since it was registered last, or ever

    Segment(FileMapping mapping, int index, long address, long bytes) {
        this.mapping = mapping;
        this.index = index;
        this.address = address;
        this.bytes = bytes;
    }

    /** Returns where in the file it ends. */
    long end() {
        return Math.min((index + 1) * mapping.segmentBytes, mapping.key.size());
    }

    /** Returns whether as much as it has was read some other way. */
    boolean isReadElsewhere() {
        return elsewhere >= end() - index * mapping.segmentBytes;
    }
}
