// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.Completion;
import io.penstock.FailedCompletion;
import io.penstock.SubmitOptions;
import io.penstock.SubmitOptions.Errors;
import io.penstock.WritePlan;
import io.penstock.engine.simulation.TestFile.Handle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The parts of the workload that carry many transfers: submit of a publisher, write, and streams. */
final class Pipelines {

    private final Workload workload;
    private final World world;
    private final Chance chance;
    final Streams streams;

    Pipelines(Workload workload) {
        this.workload = workload;
        this.streams = new Streams(workload);
        this.world = workload.world;
        this.chance = workload.chance;
    }

    void begin() {
        switch (chance.below(3)) {
            case 0 -> submit();
            case 1 -> streams.begin();
            default -> write();
        }
    }

    private void submit() {
        List<Attempt> all = new ArrayList<>();
        for (int i = chance.between(1, 8); i > 0; i--) {
            Attempt attempt = chance.oneIn(2) ? workload.attempts.newRead() : workload.attempts.newWrite();
            if (attempt != null) {
                all.add(attempt);
            }
        }
        SubmitOptions options = new SubmitOptions(
                chance.between(1, 4), chance.oneIn(2), chance.pick(List.of(Errors.values())), chance.oneIn(3));
        int[] next = {0};
        Watch<Completion> watch = new Watch<>(
                world,
                "submit of " + all.size(),
                value -> {
                    Attempt attempt = (Attempt) value.transfer().tag().orElseThrow();
                    if (options.inOrder() && all.indexOf(attempt) < next[0]) {
                        throw new Violation("104: completions out of order");
                    }
                    next[0] = all.indexOf(attempt);
                    arrived(attempt, value);
                },
                error -> {
                    workload.expect("submit", error, null);
                    for (Attempt attempt : all) {
                        if (error == null && !attempt.hasEnded()) {
                            throw new Violation("101: a submit ended before " + attempt);
                        }
                    }
                });
        all.forEach(attempt -> attempt.watchedBy(watch));
        workload.begin(watch);
        workload.backend
                .submit(
                        Flux.fromIterable(all)
                                .doOnNext(this::begin)
                                .map(attempt -> attempt.transfer().tag(attempt)),
                        options)
                .subscribe(watch);
    }

    private void begin(Attempt attempt) {
        attempt.begin();
        attempt.accepted();
    }

    private void arrived(Attempt attempt, Completion value) {
        if (value instanceof FailedCompletion failed) {
            attempt.fail(failed.error());
            workload.expect(attempt.toString(), failed.error(), attempt);
        } else {
            attempt.succeed(value);
        }
    }

    private void write() {
        Handle handle = workload.attempts.someHandle(true);
        Place spot = handle == null ? null : chance.pick(handle.of.spots);
        if (handle == null || spot == null || !spot.isFree()) {
            return;
        }
        TestFile file = handle.of;
        byte[] data = chance.bytes(spot.bytes);
        boolean syncs = chance.oneIn(3) && !handle.syncHasFailed;
        Attempt whole = new Attempt(handle, false);
        Watch<Long> watch = new Watch<>(
                world,
                "write to " + file.simulated.name,
                bytes -> {
                    if (bytes != spot.bytes) {
                        throw new Violation("103: a write of " + spot.bytes + " bytes wrote " + bytes);
                    }
                },
                error -> written(whole, spot, data, error));
        whole.watchedBy(watch);
        spot.isFor(whole);
        file.content.unknown(spot.offset, spot.bytes);
        file.mayGrowTo(spot.offset + spot.bytes);
        workload.begin(watch);
        WritePlan plan = WritePlan.to(handle.file.region(spot.offset, spot.bytes))
                .chunkBytes(chance.between(100, 5000))
                .depth(chance.between(1, 3));
        workload.backend
                .write(syncs ? plan.sync() : plan, chunk -> {
                    int from = (int) chunk.fileOffset() - spot.offset;
                    int bytes = chance.oneIn(3) ? 1 + chance.below((int) chunk.length()) : (int) chunk.length();
                    SimulatedMemory.view(chunk.region().buffer(), 0, bytes).put(data, from, bytes);
                    Mono<Long> filled = Mono.just((long) bytes);
                    return chance.oneIn(2) ? filled : filled.delayElement(Duration.ofNanos(chance.below(3000)));
                })
                .subscribe(watch);
        workload.maybeCancel(watch);
    }

    private void written(Attempt whole, Place spot, byte[] data, @Nullable Throwable error) {
        whole.end(); // as a transfer
        workload.expect("write", error, null);
        TestFile file = whole.handle.of;
        if (error != null) {
            new Attempt(whole.handle, false); // that has not succeeded
        } else {
            file.hasGrownTo(spot.offset + spot.bytes);
            if (spot.last() == whole) {
                file.content.settle(spot.offset, data, 0, data.length);
            }
        }
    }
}
