// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.penstock.Backend.StagingState;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * Samples the stream of a viewer at short intervals and sums up a few of the samples.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
final class Sampler {

    private final Viewer viewer;
    private final List<List<String>> staging = new ArrayList<>();
    private @Nullable OpenSource source;
    private long start = System.nanoTime();
    private long moved;
    private long ended;
    private long inFlight; // the most of the samples
    private int samples;

    private Sampler(Viewer viewer) {
        this.viewer = viewer;
    }

    /**
     * Returns what the stream of a viewer does, for every {@code count} ticks, as long as it is subscribed to. Ticks
     * for which there is no demand are dropped.
     */
    static Flux<String> of(Viewer viewer, Flux<?> ticks, int count) {
        return Flux.defer(() -> {
            Sampler sampler = new Sampler(viewer);
            return ticks.onBackpressureDrop().handle((tick, sink) -> {
                sampler.sample();
                if (sampler.samples == count) {
                    sink.next(sampler.sumUp().toString());
                }
            });
        });
    }

    private void sample() {
        OpenSource now = viewer.source;
        if (now != source) {
            source = now;
            begin(System.nanoTime(), movedBytes());
        }
        samples++;
        if (now != null) {
            inFlight = Math.max(inFlight, now.meter().inFlightBytes());
            List<List<StagingState>> states = now.backend().stagingStates();
            for (int queue = 0; queue < states.size(); queue++) {
                if (queue == staging.size()) {
                    staging.add(new ArrayList<>());
                }
                staging.get(queue).add(digits(states.get(queue)));
            }
        }
    }

    private static String digits(List<StagingState> states) {
        StringBuilder digits = new StringBuilder(states.size());
        for (StagingState state : states) {
            digits.append(
                    switch (state) {
                        case FREE -> '0';
                        case FILLING -> '1';
                        case COPYING -> '2';
                        case FENCED -> '3';
                        case DRAINING -> '4';
                    });
        }
        return digits.toString();
    }

    private Messages.Stats sumUp() {
        long now = System.nanoTime();
        OpenSource of = source;
        long movedNow = movedBytes();
        long[] latencies = of == null ? new long[0] : of.meter().latenciesSince(ended);
        Messages.Stats stats =
                new Messages.Stats(now - start, movedNow - moved, inFlight, latencies, List.copyOf(staging));
        begin(now, movedNow);
        return stats;
    }

    private long movedBytes() {
        return source == null ? 0 : source.meter().movedBytes();
    }

    private void begin(long now, long movedNow) {
        start = now;
        moved = movedNow;
        ended = source == null ? 0 : source.meter().ended();
        inFlight = 0;
        samples = 0;
        staging.clear();
    }
}
