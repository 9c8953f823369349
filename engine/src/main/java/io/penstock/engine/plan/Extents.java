// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import io.penstock.BufferRegion;
import io.penstock.DeviceBuffer;
import io.penstock.FileRegion;
import io.penstock.ImageRegion;
import io.penstock.StorageFile;
import io.penstock.Target;
import io.penstock.Transfer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The bytes of files and buffers that a transfer touches. Immutable; created only if there are abandoned transfers. */
public final class Extents {

    /**
     * Identities, compared with {@code equals}, by which two handles are the same file, or two buffers the same memory.
     */
    public interface Identities {

        /** Returns the identity of a file, such as its device and inode. */
        public Object of(StorageFile file);

        /** Returns the identity of a buffer's memory. */
        public Object of(DeviceBuffer buffer);

        /** Returns whether a file is a buffer: its identity is the identity of the buffer's memory. */
        public default boolean isBuffer(StorageFile file) {
            return false;
        }
    }

    /** An image counts as a whole: the texels that two boxes share are not computed. */
    private record Image(long handle) {}

    private final boolean writesFile;
    private final Map<Object, Ranges> files;
    private final Map<Object, Ranges> memory;

    private Extents(boolean writesFile, Map<Object, Ranges> files, Map<Object, Ranges> memory) {
        this.writesFile = writesFile;
        this.files = files;
        this.memory = memory;
    }

    public static Extents of(Transfer transfer, Identities identities) {
        Collector files = new Collector();
        Collector memory = new Collector();
        if (transfer.isGather()) {
            FileRegion first = transfer.fileRegion(0);
            long[] offsets = new long[transfer.pairs()];
            for (int i = 0; i < offsets.length; i++) {
                offsets[i] = transfer.fileOffset(i);
            }
            Collector sources = identities.isBuffer(first.file()) ? memory : files;
            sources.add(identities.of(first.file()), Ranges.of(offsets, first.length()));
            BufferRegion block = (BufferRegion) transfer.target(0);
            memory.add(identities.of(block.buffer()), Ranges.of(block.offset(), block.offset() + transfer.length()));
        } else {
            for (int i = 0; i < transfer.pairs(); i++) {
                FileRegion region = transfer.fileRegion(i);
                Collector sources = identities.isBuffer(region.file()) ? memory : files;
                sources.add(identities.of(region.file()), Ranges.of(region.offset(), region.end()));
                memory.add(transfer.target(i), identities);
            }
        }
        return new Extents(!transfer.isRead(), files.union(), memory.union());
    }

    /** Returns true if both touch a byte of a buffer, or a byte of a file that one of them writes (rule 205). */
    public boolean conflicts(Extents other) {
        return meet(memory, other.memory) || ((writesFile || other.writesFile) && meet(files, other.files));
    }

    private static boolean meet(Map<Object, Ranges> some, Map<Object, Ranges> others) {
        for (Map.Entry<Object, Ranges> entry : some.entrySet()) {
            Ranges ranges = others.get(entry.getKey());
            if (ranges != null && ranges.overlaps(entry.getValue())) {
                return true;
            }
        }
        return false;
    }

    private static final class Collector {

        private final Map<Object, List<Ranges>> parts = new HashMap<>();

        void add(Object key, Ranges ranges) {
            parts.computeIfAbsent(key, k -> new ArrayList<>(1)).add(ranges);
        }

        void add(Target target, Identities identities) {
            if (target instanceof BufferRegion region) {
                add(identities.of(region.buffer()), Ranges.of(region.offset(), region.offset() + region.length()));
            } else if (target instanceof ImageRegion region) {
                add(new Image(region.image()), Ranges.of(0, Long.MAX_VALUE));
            }
        }

        Map<Object, Ranges> union() {
            Map<Object, Ranges> union = new HashMap<>();
            parts.forEach((key, list) -> union.put(key, union(list)));
            return union;
        }

        // In halves, so that many pairs cost n log n.
        private static Ranges union(List<Ranges> list) {
            int n = list.size();
            return n == 1 ? list.get(0) : union(list.subList(0, n / 2)).with(union(list.subList(n / 2, n)));
        }
    }
}
