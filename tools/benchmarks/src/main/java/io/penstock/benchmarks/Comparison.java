// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.function.ToDoubleBiFunction;

/**
 * A comparison of two contenders of a row, and its goal.
 *
 * @param ours the name of the contender with the goal
 * @param peer the name of the other
 */
record Comparison(String row, String mode, String ours, String peer, Kind kind, double goal) {

    /** The compared quantity of two measures. */
    enum Kind {
        /** The least ratio of speeds. */
        SPEED("x", true, (ours, peer) -> ours.perSecond() / peer.perSecond()),
        /** The most processor time per operation, as a ratio. */
        COST("x", false, (ours, peer) -> ours.cpuNanosEach() / peer.cpuNanosEach()),
        /** The most additional time per operation. */
        EXTRA("ns", false, (ours, peer) -> ours.nanosEach() - peer.nanosEach()),
        /** The most additional processor time per operation. */
        EXTRA_COST("ns", false, (ours, peer) -> ours.cpuNanosEach() - peer.cpuNanosEach()),
        /** The most time per operation, as a ratio. */
        TIME("x", false, (ours, peer) -> ours.nanosEach() / peer.nanosEach()),
        /** The least number of bytes; the peer does not matter. */
        RATE("GB/s", true, (ours, peer) -> ours.perSecond() / 1e9),
        /** The most bytes of heap allocated per operation; the peer does not matter. */
        ALLOCATED("B", false, (ours, peer) -> ours.allocatedEach());

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
