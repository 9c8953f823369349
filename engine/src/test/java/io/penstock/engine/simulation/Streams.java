// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.Chunk;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.FileRegion;
import io.penstock.HostLease;
import io.penstock.HostView;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.engine.simulation.TestFile.Handle;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/**
 * The part of the workload that streams: chunks are used at once or later, retained beyond their function, or written
 * elsewhere and released after a fence.
 */
final class Streams {

    private final Workload workload;
    private final World world;
    private final Chance chance;
    private final List<Kept> kept = new ArrayList<>(); // until the end

    Streams(Workload workload) {
        this.workload = workload;
        this.world = workload.world;
        this.chance = workload.chance;
    }

    /** One stream. */
    private static final class Stream {
        final TestFile file;
        final int since;
        boolean ofLeases; // are its elements
        final List<FileRegion> regions = new ArrayList<>();
        long left;
        long index;
        int mayBeKept; // chunks, until the end: with one less it would stand still

        Stream(TestFile file) {
            this.file = file;
            since = file.content.now();
        }

        /** Returns how many bytes it may lack, since the file has become shorter. */
        long mayLack() {
            return regions.stream()
                    .mapToLong(region ->
                            region.length() - Math.max(0, Math.min(region.length(), file.readable - region.offset())))
                    .sum();
        }
    }

    /** A lease, and its bytes as they were found when it began. */
    private record Kept(HostLease lease, Chunk chunk, ByteBuffer bytes, Stream stream) implements HostLease {

        @Override
        public HostView view() {
            return lease.view();
        }

        @Override
        public void close() {
            lease.close();
        }
    }

    void begin() {
        Handle handle = workload.attempts.someHandle(false);
        if (handle == null) {
            return;
        }
        Stream stream = new Stream(handle.of);
        for (int i = chance.between(1, 3); i > 0; i--) {
            int offset = chance.below(handle.of.readable);
            int bytes = Math.min(handle.of.readable - offset, 1 + chance.below(9000));
            stream.regions.add(handle.file.region(offset, bytes));
            stream.left += bytes;
        }
        stream.ofLeases = chance.oneIn(2);
        int depth = chance.between(1, 3);
        stream.mayBeKept = chance.oneIn(2) ? depth - 1 : 0;
        String what = "stream of " + handle.of.simulated.name;
        Watch<Object> watch = new Watch<>(world, what, value -> got(stream, value), error -> {
            workload.expect("stream", error, null);
            if (error == null && (stream.left < 0 || stream.left > stream.mayLack())) {
                throw new Violation("103: a stream lacks " + stream.left + " bytes");
            }
        });
        workload.begin(watch);
        StreamPlan plan = StreamPlan.of(stream.regions)
                .chunkBytes(chance.between(500, 5000))
                .depth(depth);
        workload.backend.stream(plan, chunk -> use(chunk, stream, watch)).subscribe(watch);
        if (stream.ofLeases && chance.oneIn(2)) {
            world.later(chance.below(5000), watch::cancel);
        }
        workload.maybeCancel(watch);
    }

    private Publisher<Object> use(Chunk chunk, Stream stream, Watch<?> watch) {
        if (chunk.index() != stream.index++) {
            throw new Violation("104: chunk " + chunk.index() + " out of order");
        }
        ByteBuffer bytes = SimulatedMemory.view(chunk.region().buffer(), 0, (int) chunk.length());
        check(bytes, chunk, stream);
        Mono<Object> used = Mono.just(chunk.length());
        if (chance.oneIn(3)) {
            retain(chunk, bytes, stream);
        }
        if (chance.oneIn(4)) {
            Mono<Object> written = write(chunk, bytes, watch);
            used = written == null ? used : written;
        } else if (stream.ofLeases) {
            used = Mono.fromSupplier(
                    () -> new Kept(chunk.retain(), chunk, bytes, stream)); // closed by who gets it, or discarded
        }
        if (chance.oneIn(2)) {
            return used;
        }
        // Not by then(), which makes its value without demand and loses it, undiscarded, where it is cancelled before
        // that.
        Mono<Object> late = used;
        return Mono.defer(() -> {
                    check(bytes, chunk, stream);
                    return late;
                })
                .delaySubscription(Duration.ofNanos(chance.below(3000)));
    }

    private void got(Stream stream, Object value) {
        if (value instanceof Kept lease) {
            stream.left -= lease.chunk.length();
            world.later(chance.below(6000), () -> close(lease));
        } else {
            stream.left -= (long) value;
        }
    }

    private static void check(ByteBuffer bytes, Chunk chunk, Stream stream) {
        int wrong = stream.file.content.wrong((int) chunk.fileOffset(), bytes, stream.since);
        if (wrong >= 0) {
            throw new Violation("203: byte " + wrong + " of " + chunk + " is not what is in the file");
        }
    }

    // Leases beyond the function.

    private void retain(Chunk chunk, ByteBuffer bytes, Stream stream) {
        Kept lease = new Kept(chunk.retain(), chunk, bytes, stream);
        if (stream.mayBeKept > 0) {
            stream.mayBeKept--;
            kept.add(lease);
            world.say("application: keeps", chunk);
        } else {
            world.later(chance.below(6000), () -> close(lease));
        }
    }

    /** Closes a lease, up to which its memory must not have been reused. */
    private void close(Kept held) {
        world.say("application: closes a lease of", held.chunk);
        check(held.bytes, held.chunk, held.stream);
        for (int i = chance.between(1, 2); i > 0; i--) {
            held.lease.close();
        }
        try {
            held.lease.view();
        } catch (ClosedException over) {
            return;
        }
        throw new Violation("201: the bytes of " + held.chunk + " can be had after its lease was closed");
    }

    /** Returns how many chunks are kept until the end. */
    long keptChunks() {
        return kept.stream().map(Kept::chunk).distinct().count();
    }

    void closeLeases() {
        kept.forEach(this::close);
        kept.clear();
    }

    // Fences.

    /**
     * Returns what writes a part of a chunk elsewhere, so that its lease ends after the fence of that; null where there
     * is no room.
     */
    private @Nullable Mono<Object> write(Chunk chunk, ByteBuffer bytes, Watch<?> watch) {
        Handle handle = workload.attempts.someHandle(true);
        Place spot = handle == null ? null : chance.pick(handle.of.spots);
        if (handle == null || spot == null || !spot.isFree() || spot.bytes > chunk.length()) {
            return null;
        }
        byte[] data = new byte[spot.bytes];
        bytes.get(0, data);
        Attempt whole = new Attempt(handle, false);
        whole.watchedBy(watch);
        spot.isFor(whole);
        handle.of.content.unknown(spot.offset, spot.bytes);
        handle.of.mayGrowTo(spot.offset + spot.bytes);
        Transfer transfer =
                Transfer.write(chunk.region().slice(0, spot.bytes), handle.file.region(spot.offset, spot.bytes));
        return workload.backend.enqueue(transfer).flatMap(fence -> {
            Watch<Completion> outcome = new Watch<>(world, "outcome of a write of " + chunk, value -> {}, error -> {
                if (error != null) {
                    whole.fail(error);
                    workload.expect("a write of " + chunk, error, whole);
                } else {
                    whole.end();
                    handle.of.hasGrownTo(spot.offset + spot.bytes);
                    if (spot.last() == whole) {
                        handle.of.content.settle(spot.offset, data, 0, data.length);
                    }
                }
            });
            outcome.mayBeCancelled = false;
            whole.watchedBy(outcome);
            workload.begin(outcome);
            fence.outcome().subscribe(outcome);
            return chunk.releaseAfter(fence).thenReturn(chunk.length());
        });
    }
}
