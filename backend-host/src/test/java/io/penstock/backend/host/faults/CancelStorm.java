// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.tck.Bench;
import io.penstock.tck.Content;
import io.penstock.tck.Pattern;
import io.penstock.tck.Witness;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import reactor.core.publisher.Flux;

/**
 * Reads at random places, most of them cancelled in flight and their slabs released at once. Released slabs are poison:
 * when one is reused, the test sees whether an abandoned read has written to it since. Some are then only watched.
 */
final class CancelStorm {

    private static final int BATCH = 33;
    private static final int KEPT = 4;
    private static final int WATCHED = 64;
    private static final int MOST_ABANDONED = 128;
    private static final int PAGE = 4096;
    private static final long PAUSE_NANOS = 20_000;

    private final Bench bench;
    private final Slabs slabs;
    private final StorageFile file;
    private final int bytes;
    private final int places;
    private final Random random;
    private final Pattern content;
    private final Pattern watch = new Pattern(0xDB);
    private final ByteBuffer watched;
    private final List<Read> cancelled = new ArrayList<>();
    private final List<DeviceBuffer> idle = new ArrayList<>();
    private int stillHeld;

    /** A read under way. */
    private record Read(Witness<Completion> witness, DeviceBuffer buffer) {}

    /**
     * @param slabs where the backend's buffers come from
     * @param bytes the bytes of a read
     */
    CancelStorm(Bench bench, Slabs slabs, StorageFile file, int bytes, long seed) {
        this.bench = bench;
        this.slabs = slabs;
        this.file = file;
        this.bytes = bytes;
        this.places = (int) ((file.size() - bytes) / PAGE);
        this.random = new Random(seed);
        this.content = Pattern.of(file.path());
        this.watched = ByteBuffer.allocateDirect(bytes);
        watch.fill(watched, 0);
        watched.flip();
    }

    /** Goes on until {@code count} reads have been cancelled before they had signalled anything. */
    void cancel(int count) {
        while (cancelled.size() < count) {
            while (slabs.liveSlabs() - idle.size() > MOST_ABANDONED) {
                LockSupport.parkNanos(PAUSE_NANOS); // what waits for a turn would not be cancelled in flight
            }
            List<Read> batch = start();
            Collections.shuffle(batch, random);
            batch.subList(KEPT, batch.size()).forEach(this::cancel);
            batch.subList(0, KEPT).forEach(this::keep);
        }
        idle.forEach(this::stopWatching);
        idle.clear();
    }

    /** Starts reads at once, so that many are in flight when the first are cancelled. */
    private List<Read> start() {
        List<DeviceBuffer> buffers = new ArrayList<>(Bench.get(Flux.range(0, BATCH)
                .flatMap(i -> bench.backend().allocate(bytes))
                .collectList()));
        buffers.forEach(this::assertReleased);
        watch(buffers.remove(0));
        List<Read> batch = new ArrayList<>();
        for (DeviceBuffer buffer : buffers) {
            long offset = (long) random.nextInt(places) * PAGE;
            Transfer read = Transfer.read(file.region(offset, bytes), buffer.all());
            batch.add(new Read(Witness.of(bench.backend().submit(read)), buffer));
        }
        return batch;
    }

    private void watch(DeviceBuffer buffer) {
        view(buffer).put(watched.duplicate());
        idle.add(buffer);
        if (idle.size() > WATCHED) {
            stopWatching(idle.remove(0));
        }
    }

    private void cancel(Read read) {
        boolean early = !read.witness.hasEnded();
        long live = slabs.liveSlabs();
        read.witness.cancel();
        read.buffer.close();
        if (early) {
            cancelled.add(read);
            stillHeld += slabs.liveSlabs() >= live ? 1 : 0; // its slab was not free at once: at least so many
        }
    }

    private void keep(Read read) {
        Completion completion = read.witness.value();
        assertThat(completion.bytes()).isEqualTo(bytes);
        Content.assertHolds(view(read.buffer), content, completion.transfer().fileOffset(0), bytes);
        read.buffer.close();
    }

    /** A slab is as it was released: poison, or zeros if it had never been used. */
    private void assertReleased(DeviceBuffer buffer) {
        ByteBuffer view = view(buffer);
        byte first = view.get(0);
        assertThat(first).as("the first byte of a released slab").isIn(Slabs.POISON, (byte) 0);
        view.limit(bytes - 1);
        assertThat(view(buffer).position(1).mismatch(view))
                .as("where a slab was overwritten after its release")
                .isEqualTo(-1);
    }

    private void stopWatching(DeviceBuffer buffer) {
        assertThat(view(buffer).mismatch(watched))
                .as("where a slab was overwritten by a read of another's")
                .isEqualTo(-1);
        buffer.close();
    }

    private ByteBuffer view(DeviceBuffer buffer) {
        return buffer.hostView().orElseThrow().buffer(0, bytes);
    }

    /** Asserts that all reads are accounted for; after the backend was closed, which waits for their native ends. */
    void assertNoneLost(int count) {
        assertThat(slabs.liveSlabs())
                .as("slabs that a native operation still holds")
                .isZero();
        assertThat(cancelled)
                .as("signals of a cancelled read: one at most, if it crossed the cancel")
                .allMatch(read -> read.witness.terminals() <= 1);
        long silent =
                cancelled.stream().filter(read -> read.witness.terminals() == 0).count();
        assertThat(silent).as("cancels that were not too late").isGreaterThan(count * 9L / 10);
        assertThat(stillHeld)
                .as("cancelled reads whose slab was not free at once")
                .isGreaterThan(count / 2);
    }
}
