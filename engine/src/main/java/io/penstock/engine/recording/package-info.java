// SPDX-License-Identifier: Apache-2.0
/**
 * Events of JDK Flight Recorder: transfers, the stages of staged ones, fallbacks, and counters of open backends. Knows
 * the API alone. {@link io.penstock.engine.recording.FlightRecording} is the only type that the other packages use, and
 * the only one that is loaded where there is no {@code jdk.jfr}.
 */
@NullMarked
package io.penstock.engine.recording;

import org.jspecify.annotations.NullMarked;
