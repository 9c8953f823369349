// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.ClosedException;
import io.penstock.engine.simulation.TestFile.Handle;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/** The part of the workload that is no transfer: uploads, downloads, lengths of files. */
final class Calls {

    private final Workload workload;
    private final World world;
    private final Chance chance;

    Calls(Workload workload) {
        this.workload = workload;
        this.world = workload.world;
        this.chance = workload.chance;
    }

    void begin() {
        switch (chance.below(4)) {
            case 0 -> upload();
            case 1 -> download();
            case 2 -> size();
            default -> lengthen();
        }
    }

    private void upload() {
        TestBuffer buffer = chance.pick(workload.attempts.buffers);
        Place place = buffer.take(chance, 1 + chance.below(3000), 1);
        if (place == null) {
            return;
        }
        byte[] data = chance.bytes(place.bytes);
        buffer.content.unknown(place.offset, place.bytes);
        Watch<Long> watch = new Watch<>(
                world,
                "upload",
                bytes -> {
                    moved(bytes, place);
                    buffer.content.settle(place.offset, data, 0, data.length);
                },
                e -> workload.expect("upload", e, null));
        workload.begin(watch);
        buffer.buffer.upload(place.offset, ByteBuffer.wrap(data)).subscribe(watch);
        workload.maybeCancel(watch);
    }

    private void download() {
        TestBuffer buffer = chance.pick(workload.attempts.buffers);
        int bytes = 1 + chance.below(3000);
        Place place = new Place(chance.below(TestBuffer.BYTES - bytes), bytes);
        ByteBuffer target = ByteBuffer.allocate(bytes);
        int since = buffer.content.now();
        Watch<Long> watch = new Watch<>(
                world,
                "download",
                count -> {
                    moved(count, place);
                    int wrong = buffer.content.wrong(place.offset, target.duplicate(), since);
                    if (wrong >= 0) {
                        throw new Violation("203: byte " + wrong + " of a download is not what is in the buffer");
                    }
                },
                e -> workload.expect("download", e, null));
        workload.begin(watch);
        buffer.buffer.download(place.offset, target).subscribe(watch);
        workload.maybeCancel(watch);
    }

    private static void moved(long bytes, Place place) {
        if (bytes != place.bytes) {
            throw new Violation("103: " + bytes + " bytes were copied, not " + place.bytes);
        }
    }

    private void size() {
        Handle handle = workload.attempts.someHandle(false);
        if (handle == null) {
            return;
        }
        try {
            handle.of.checkLength(handle.file.size());
        } catch (UncheckedIOException e) {
            workload.expect("size", e.getCause(), null);
        } catch (ClosedException e) {
            workload.expect("size", e, null);
        }
    }

    /** Makes a file longer, or leaves it as long as it may become by writes, while no transfer writes it. */
    private void lengthen() {
        Handle handle = workload.attempts.someHandle(true);
        if (handle == null || !handle.of.isQuiet()) {
            return;
        }
        TestFile file = handle.of;
        int length = file.mostLength() + chance.below(2000);
        if (length > SimulatedFile.MOST_BYTES - 40_000) {
            return; // what is written behind it must have room
        }
        Attempt whole = new Attempt(handle, false);
        file.spots.forEach(spot -> spot.isFor(whole)); // no transfer writes meanwhile
        file.mayGrowTo(length);
        Watch<Void> watch =
                new Watch<>(world, "truncate to " + length, nothing -> {}, e -> lengthened(whole, length, e));
        whole.watchedBy(watch);
        workload.begin(watch);
        handle.file.truncate(length).subscribe(watch);
        watch.mayBeCancelled = false;
    }

    private void lengthened(Attempt whole, int length, @Nullable Throwable error) {
        if (error != null) {
            whole.fail(error);
            whole.handle.of.mayKeepTailBehind(length);
            workload.expect("truncate", error, null);
        } else {
            whole.end();
            whole.handle.of.hasGrownTo(length);
        }
    }
}
