// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.paths;

import io.penstock.backend.gpu.api.FileApi;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The streams of one queue: some for whole blocks, some for the rest, each created on first use. A stream registered as
 * aligned carries nothing else.
 */
final class StreamLines {

    /** Two keep a stream busy between polls; more would only wait behind one another. */
    private static final int MOST_PER_STREAM = 2;

    private final FileApi files;
    private final int mostOfEach;
    private final List<StreamLine> open = new ArrayList<>();

    StreamLines(FileApi files, int mostOfEach) {
        this.files = files;
        this.mostOfEach = mostOfEach;
    }

    /** Returns the least busy stream for an operation; null if all are busy. A context must be current. */
    @Nullable
    StreamLine pick(boolean aligned) {
        StreamLine least = null;
        int count = 0;
        for (StreamLine line : open) {
            if (line.isOurs() && line.isAligned() == aligned) {
                count++;
                boolean better = least == null
                        || line.operations().size() < least.operations().size();
                least = better ? line : least;
            }
        }
        if (count < mostOfEach && (least == null || !least.operations().isEmpty())) {
            least = StreamLine.open(files, aligned);
            open.add(least);
        }
        return least == null || least.operations().size() >= MOST_PER_STREAM ? null : least;
    }

    /** Returns the line of an application's stream; the application decides how much it queues there. */
    StreamLine of(long stream) {
        for (StreamLine line : open) {
            if (!line.isOurs() && line.stream() == stream) {
                return line;
            }
        }
        // Other idle streams of the application may be destroyed by now, and their handles reused.
        open.removeIf(line -> !line.isOurs() && line.operations().isEmpty());
        StreamLine made = StreamLine.of(files, stream);
        open.add(made);
        return made;
    }

    List<StreamLine> open() {
        return open;
    }

    /** Destroys all of them; they must have completed everything. */
    void close() {
        open.forEach(StreamLine::close);
        open.clear();
    }
}
