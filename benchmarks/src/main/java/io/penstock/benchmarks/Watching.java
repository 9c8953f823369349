// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

/** How an application watches its transfers. */
enum Watching {
    /** Not at all; one call submits all transfers. */
    NOTHING(""),
    /** By meters, as {@code TransferMeters} keeps them. */
    METERS(", meters"),
    /** By an event of JDK Flight Recorder for each transfer of at least 1 ms, which is the default. */
    SLOW_EVENTS(", JFR events from 1 ms"),
    /** By an event of JDK Flight Recorder for each transfer. */
    EVENTS(", JFR events"),
    /** Not at all; one call submits one transfer. */
    EACH(", one by one"),
    /** By an Observation of each transfer, with a timer for it, as Spring Boot keeps one. */
    OBSERVATIONS(", one by one, observed");

    private final String suffix;

    Watching(String suffix) {
        this.suffix = suffix;
    }

    /** Returns what follows the name of a contender. */
    @Override
    public String toString() {
        return suffix;
    }
}
