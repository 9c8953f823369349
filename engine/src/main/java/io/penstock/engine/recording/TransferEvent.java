// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.recording;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/**
 * A transfer in a recording of JDK Flight Recorder, from its subscription to its last native completion. Off unless a
 * recording enables it, and then for transfers that take at least the threshold.
 */
@Name("io.penstock.Transfer")
@Label("Transfer")
@Category("Penstock")
@Enabled(false)
@Threshold("1 ms")
@StackTrace(false)
final class TransferEvent extends Event {

    @Label("Backend")
    @Nullable
    String backend;

    @Label("Transfer")
    @Nullable
    String transfer;

    @Label("Path")
    @Nullable
    String path;

    @Label("Outcome")
    @Description("OK, the class of the error, or CANCELLED")
    @Nullable
    String outcome;

    @Label("Bytes")
    @DataAmount
    long bytes;

    @Label("Wait")
    @Description("From the subscription to the first native command")
    @Timespan(Timespan.NANOSECONDS)
    long waited;
}
