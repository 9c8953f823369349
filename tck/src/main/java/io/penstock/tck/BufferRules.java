// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.ClosedException;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.HostView;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Device memory: allocating, wrapping, viewing and closing it (rules 202, 206, 402). */
public interface BufferRules extends Rules {

    /** Memory keeps its content. If this fails, check the copies to and from the device. */
    @Test
    default void required_206_uploadAndDownloadMoveExactlyTheirBytes(Bench bench) {
        DeviceBuffer buffer = bench.poisoned(10_000);
        for (boolean direct : new boolean[] {true, false}) {
            Content.poison(buffer); // else the second upload could do nothing: its bytes are there
            ByteBuffer source = direct ? ByteBuffer.allocateDirect(3000) : ByteBuffer.allocate(3000);
            new Pattern(9).fill(source, 0);
            source.position(100).limit(2100);
            assertThat(Bench.get(buffer.upload(777, source))).isEqualTo(2000);
            assertThat(source.position()).as("the source's position").isEqualTo(100);

            ByteBuffer target = direct ? ByteBuffer.allocateDirect(2000) : ByteBuffer.allocate(2000);
            assertThat(Bench.get(buffer.download(777, target))).isEqualTo(2000);
            assertThat(target.position()).as("the target's position").isZero();
            Content.assertHolds(target, new Pattern(9), 100, 2000);
        }
        Content.assertPoison(buffer.region(0, 777));
        Content.assertPoison(buffer.region(2777, 10_000 - 2777));
    }

    /** Rule 402: bounds are checked before anything is copied. If this fails, check upload's arguments. */
    @Test
    default void required_402_copiesOutOfBoundsAreRefusedAtOnce(Bench bench) {
        DeviceBuffer buffer = bench.poisoned(1000);
        ByteBuffer bytes = ByteBuffer.allocateDirect(600);
        for (long offset : new long[] {-1, 401, 1001, Long.MAX_VALUE}) {
            assertThatThrownBy(() -> buffer.upload(offset, bytes)).isInstanceOf(IndexOutOfBoundsException.class);
            assertThatThrownBy(() -> buffer.download(offset, bytes)).isInstanceOf(IndexOutOfBoundsException.class);
        }
        assertThatThrownBy(() -> buffer.region(500, 501)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> bench.backend().allocate(-1)).isInstanceOf(IllegalArgumentException.class);
        Content.assertPoison(buffer.all());
    }

    /** Buffers do not overlap, whatever their sizes. If this fails, check the pool's size classes. */
    @Test
    default void required_206_buffersOfAllSizesAreDisjoint(Bench bench) {
        List<DeviceBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            long bytes = 1 + (1L << (i % 20)) + i;
            buffers.add(bench.filled(bytes, new Pattern(i), 0));
            assertThat(buffers.get(i).length()).isEqualTo(bytes);
        }
        for (int i = 0; i < 60; i++) {
            Content.assertHolds(
                    Content.bytes(buffers.get(i).all()),
                    new Pattern(i),
                    0,
                    buffers.get(i).length());
        }
    }

    /**
     * Rule 202: close is final and idempotent: a second close must not free memory of another buffer. If this fails,
     * check the second close.
     */
    @Test
    default void required_202_aBufferClosedTwiceIsFreedOnce(Bench bench) {
        DeviceBuffer first = bench.poisoned(4096);
        first.close();
        DeviceBuffer second = bench.filled(4096, new Pattern(2), 0);
        first.close();
        DeviceBuffer third = bench.filled(4096, new Pattern(3), 0);
        Content.assertHolds(Content.bytes(second.all()), new Pattern(2), 0, 4096);
        Content.assertHolds(Content.bytes(third.all()), new Pattern(3), 0, 4096);
    }

    /** Rule 202: a closed buffer is refused everywhere. If this fails, check the pin at subscription. */
    @Test
    default void required_202_aClosedBufferRefusesEverything(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        DeviceBuffer buffer = bench.poisoned(4096);
        Transfer read = Transfer.read(file.all(), buffer.all());
        buffer.close();
        assertThat(Witness.of(bench.backend().submit(read)).error()).isInstanceOf(ClosedException.class);
        ByteBuffer bytes = ByteBuffer.allocateDirect(16);
        assertThat(Witness.of(buffer.upload(0, bytes)).error()).isInstanceOf(ClosedException.class);
        assertThat(Witness.of(buffer.download(0, bytes)).error()).isInstanceOf(ClosedException.class);
    }

    /** Pooled memory has one owner at a time. If this fails, check the pool under contention. */
    @Test
    default void required_202_concurrentAllocationsNeverShareMemory(Bench bench) {
        Flux.range(0, 400)
                .flatMap(
                        i -> bench.backend().withBuffer(8192, buffer -> {
                            ByteBuffer content = ByteBuffer.allocateDirect(8192);
                            new Pattern(i).fill(content, 0);
                            ByteBuffer back = ByteBuffer.allocateDirect(8192);
                            return buffer.upload(0, content.flip())
                                    .then(buffer.download(0, back))
                                    .doOnNext(bytes -> Content.assertHolds(back, new Pattern(i), 0, 8192));
                        }),
                        32)
                .then()
                .block(Bench.patience());
    }

    /**
     * A view shows the device's content, within its bounds, while the buffer is open. If this fails, check its bounds
     * checks.
     */
    @Test
    default void required_202_aHostViewSeesTheBytesAndEndsWithTheBuffer(Bench bench) {
        Assumptions.assumeTrue(bench.backend().capabilities().hostVisible(), "the device's memory has no host view");
        DeviceBuffer buffer = bench.filled(5000, new Pattern(4), 0);
        HostView view = buffer.hostView().orElseThrow();
        assertThat(view.length()).isEqualTo(5000);
        assertThat(view.get(4321)).isEqualTo(new Pattern(4).at(4321));
        Content.assertHolds(view.buffer(1000, 2000), new Pattern(4), 1000, 2000);
        view.put(17, Pattern.POISON);
        ByteBuffer copy = ByteBuffer.allocate(100);
        view.read(0, copy);
        assertThat(copy.get(17)).isEqualTo(Pattern.POISON);
        view.write(4900, copy.flip());
        assertThat(view.get(4917)).isEqualTo(Pattern.POISON);

        assertThatThrownBy(() -> view.get(5000)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> view.get(-1)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> view.buffer(4000, 1001)).isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> view.write(4901, copy.rewind())).isInstanceOf(IndexOutOfBoundsException.class);
        buffer.close();
        assertThatThrownBy(() -> view.get(0)).isInstanceOf(ClosedException.class);
        assertThatThrownBy(() -> view.buffer(0, 1)).isInstanceOf(ClosedException.class);
    }

    /** Rule 206: wrapped memory is used from position to limit. If this fails, check the wrapped address. */
    @Test
    default void required_206_aWrappedByteBufferIsFilledFromItsPositionToItsLimit(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 10_000), FileOption.READ);
        ByteBuffer memory = ByteBuffer.allocateDirect(20_000);
        if (!bench.backend().capabilities().hostVisible() || !bench.subject().wrapsHostMemory()) {
            assertThatThrownBy(() -> bench.backend().wrap(memory)).isInstanceOf(IllegalArgumentException.class);
            return;
        }
        while (memory.hasRemaining()) {
            memory.put(Pattern.POISON);
        }
        memory.position(3000).limit(13_000);
        try (DeviceBuffer buffer = bench.backend().wrap(memory)) {
            assertThat(buffer.length()).isEqualTo(10_000);
            bench.move(Transfer.read(file.all(), buffer.all()));
        }
        Content.assertHolds(memory, Pattern.of(file.path()), 0, 10_000);
        Content.assertAll(memory.duplicate().position(0).limit(3000), Pattern.POISON);
        Content.assertAll(memory.duplicate().limit(20_000).position(13_000), Pattern.POISON);
    }

    /** Rule 402: memory that cannot be wrapped is refused. If this fails, check {@code wrap}'s arguments. */
    @Test
    default void required_402_heapAndReadOnlyMemoryCannotBeWrapped(Bench bench) {
        assertThatThrownBy(() -> bench.backend().wrap(ByteBuffer.allocate(4096)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() ->
                        bench.backend().wrap(ByteBuffer.allocateDirect(4096).asReadOnlyBuffer()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /**
     * {@code withBuffer} closes the buffer however its function terminates. If this fails, check the close, not
     * {@code usingWhen}.
     */
    @Test
    default void required_202_withBufferClosesAfterSuccessFailureAndCancel(Bench bench) {
        List<DeviceBuffer> buffers = new CopyOnWriteArrayList<>();
        List<Witness<Integer>> uses = new ArrayList<>();
        Sinks.Empty<Void> endless = Sinks.empty(); // once the last function is called
        List<Mono<Integer>> ends =
                List.of(Mono.just(1), Mono.error(new IllegalStateException("its own")), Mono.never());
        for (Mono<Integer> end : ends) {
            Witness<Integer> use = Witness.of(bench.backend().withBuffer(4096, buffer -> {
                buffers.add(buffer);
                if (end == ends.get(2)) {
                    endless.tryEmitEmpty();
                }
                return end;
            }));
            if (end == ends.get(2)) {
                Bench.run(endless.asMono());
                use.cancel();
            } else {
                use.awaitEnd();
            }
            uses.add(use);
        }
        bench.letOthersRun();
        assertThat(uses.get(0).value()).isEqualTo(1);
        assertThat(uses.get(1).error()).hasMessage("its own");
        assertThat(uses.get(2).terminals()).as("signals after the cancel").isZero();
        assertThat(buffers)
                .hasSize(3)
                .allSatisfy(buffer -> assertThat(Witness.of(buffer.upload(0, ByteBuffer.allocateDirect(1)))
                                .error())
                        .isInstanceOf(ClosedException.class));
    }
}
