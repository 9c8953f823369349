// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.function.ToDoubleBiFunction;

/**
 * Which two contenders of a row are compared, and what must come out.
 *
 * @param ours the name of the contender that has a goal to reach
 * @param peer the name of the other
 */
record Comparison(String row, String mode, String ours, String peer, Kind kind, double goal) {

    /** What of two measures is compared. */
    enum Kind {
        /** How many times as fast, at least. */
        SPEED("x", true, (ours, peer) -> ours.perSecond() / peer.perSecond()),
        /** How many times the processor time of an operation, at most. */
        COST("x", false, (ours, peer) -> ours.cpuNanosEach() / peer.cpuNanosEach()),
        /** How much more time an operation takes, at most. */
        EXTRA("ns", false, (ours, peer) -> ours.nanosEach() - peer.nanosEach()),
        /** How much more processor time an operation takes, at most. */
        EXTRA_COST("ns", false, (ours, peer) -> ours.cpuNanosEach() - peer.cpuNanosEach()),
        /** How many times the time of an operation, at most. */
        TIME("x", false, (ours, peer) -> ours.nanosEach() / peer.nanosEach()),
        /** How many bytes, at least; the peer does not matter. */
        RATE("GB/s", true, (ours, peer) -> ours.perSecond() / 1e9);

        final String unit;
        final boolean atLeast;
        private final ToDoubleBiFunction<Measure, Measure> value;

        Kind(String unit, boolean atLeast, ToDoubleBiFunction<Measure, Measure> value) {
            this.unit = unit;
            this.atLeast = atLeast;
            this.value = value;
        }

        double of(Measure ours, Measure peer) {
            return value.applyAsDouble(ours, peer);
        }
    }
}
