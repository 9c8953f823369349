// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Transfer;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.staging.ThreadRule;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Whatever is asked, in whatever order threads run: a seed decides both, and a failing seed replays. */
class StagedQueueRandomTest {

    private static final int DEPTH = 24;
    private static final int AREA = 3000; // each id has its own part of files and memory

    private final FakeFile source = new FakeFile(DEPTH * AREA - 500, 1, 1);
    private final FakeFile blocks = new FakeFile(DEPTH * AREA - 500, 512, 2);
    private final FakeFile target = new FakeFile(DEPTH * AREA, 1, 3);
    private final FakeDevice.Memory memory = new FakeDevice.Memory(DEPTH * AREA);

    private final Expected[] expected = new Expected[DEPTH];

    /** What a command leaves behind. */
    private static final class Expected {
        final byte[] inMemory;
        final byte[] inTarget;
        final long result;

        Expected(byte[] inMemory, byte[] inTarget, long result) {
            this.inMemory = inMemory;
            this.inTarget = inTarget;
            this.result = result;
        }
    }

    static Stream<Arguments> seeds() {
        return Stream.of(ThreadRule.values())
                .flatMap(rule -> IntStream.range(0, 60).mapToObj(seed -> Arguments.of(rule, seed)));
    }

    private static byte[] area(byte[] bytes, int id) {
        return Arrays.copyOfRange(bytes, id * AREA, (id + 1) * AREA);
    }

    private Expected start(Stage stage, Random random, int id) {
        Request request = stage.requests.next(id);
        byte[] inMemory = area(memory.bytes, id);
        byte[] inTarget = area(target.bytes, id);
        int at = random.nextInt(AREA);
        int bytes = random.nextInt(AREA - at);
        int memoryAt = random.nextInt(AREA - bytes);
        long result = bytes;
        int choice = random.nextInt(5);
        if (choice < 2) {
            FakeFile file = choice == 0 ? source : blocks;
            int from = id * AREA + at;
            result = Math.max(0, Math.min(bytes, file.bytes.length - from));
            System.arraycopy(file.bytes, Math.min(from, file.bytes.length), inMemory, memoryAt, (int) result);
            request.file(Request.Kind.READ, file, from, bytes).memory(memory, (long) id * AREA + memoryAt);
        } else if (choice == 2) {
            System.arraycopy(inMemory, memoryAt, inTarget, at, bytes);
            request.file(Request.Kind.WRITE, target, (long) id * AREA + at, bytes)
                    .memory(memory, (long) id * AREA + memoryAt);
        } else if (choice == 3) {
            result = gather(random, id, request, inMemory);
        } else {
            result = 0;
            request.sync(target);
        }
        stage.queue.enqueue(request);
        return new Expected(inMemory, inTarget, result);
    }

    private long gather(Random random, int id, Request request, byte[] inMemory) {
        FakeFile file = random.nextBoolean() ? source : blocks;
        int length = 1 + random.nextInt(700);
        int count = 1 + random.nextInt(4);
        long[] offsets = random.longs(count, 0, file.bytes.length - length).toArray();
        Transfer gather = Gathers.of(length, offsets);
        for (int pair = 0; pair < count; pair++) {
            System.arraycopy(file.bytes, (int) offsets[pair], inMemory, pair * length, length);
        }
        request.file(Request.Kind.READ, file, offsets[0], (long) count * length)
                .memory(memory, (long) id * AREA)
                .packed(gather, 0, count);
        return (long) count * length;
    }

    private void check(Stage stage, int id) {
        NativeFailure failure = stage.requests.failure(id).orElse(null);
        Expected wanted = expected[id];
        if (failure == null) {
            assertThat(stage.requests.result(id)).isEqualTo(wanted.result);
            assertThat(area(memory.bytes, id)).isEqualTo(wanted.inMemory);
            assertThat(area(target.bytes, id)).isEqualTo(wanted.inTarget);
        } else {
            assertThat(failure.kind()).isNotEqualTo(NativeFailure.Kind.RETRY);
        }
    }

    private void run(Stage stage, int commands) {
        Random random = stage.random;
        ArrayDeque<Integer> free = new ArrayDeque<>();
        IntStream.range(0, DEPTH).forEach(free::add);
        int started = 0;
        int ended = 0;
        for (int steps = 0; ended < commands; steps++) {
            assertThat(steps).as("steps to end %s of %s", ended, commands).isLessThan(1000 * commands);
            while (started < commands && !free.isEmpty() && random.nextBoolean()) {
                int id = free.remove();
                expected[id] = start(stage, random, id);
                started++;
            }
            if (random.nextInt(10) == 0) {
                int id = random.nextInt(DEPTH);
                if (!free.contains(id)) {
                    stage.queue.cancel(stage.requests.of(id));
                }
            }
            stage.step();
            for (int id = 0; id < DEPTH; id++) {
                if (stage.requests.hasEnded(id)) {
                    check(stage, id);
                    stage.requests.forget(id);
                    free.add(id);
                    ended++;
                }
            }
        }
        assertThat(free).hasSize(DEPTH);
        stage.close();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void everyCommandEndsOnceAndMovesItsBytes(ThreadRule rule, int seed) {
        Stage stage = new Stage(rule, 1 + seed % 3, DEPTH, seed);
        run(stage, 200);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void errorsReachTheCommandsTheyBelongTo(ThreadRule rule, int seed) {
        Stage stage = new Stage(rule, 1 + seed % 3, DEPTH, seed);
        stage.host.failures = 5;
        stage.device.refusals = 5;
        run(stage, 100);
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void deviceLostMidwayLeavesNothingBehind(ThreadRule rule, int seed) {
        Stage stage = new Stage(rule, 1 + seed % 3, DEPTH, seed);
        stage.device.lostAfter = 20 + seed;
        run(stage, 200);
    }
}
