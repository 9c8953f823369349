// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.recording;

import io.penstock.Backend.Counters;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import jdk.jfr.Threshold;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** What is recorded. Off unless a recording enables it. */
final class Events {

    private Events() {}

    /**
     * A transfer in a recording of JDK Flight Recorder, from its subscription to its last native completion. Off unless
     * a recording enables it, and then for transfers that take at least the threshold.
     */
    @Name("io.penstock.Transfer")
    @Label("Transfer")
    @Category("Penstock")
    @Enabled(false)
    @Threshold("1 ms")
    @StackTrace(false)
    static final class TransferEvent extends Event {

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

    /** A step of a request that passes a staging buffer. The event's thread is the thread that saw the end. */
    @Name("io.penstock.Stage")
    @Label("Stage")
    @Category("Penstock")
    @Enabled(false)
    @Threshold("1 ms")
    @StackTrace(false)
    static final class StageEvent extends Event {

        @Label("Stage")
        @Description(
                "FILL: file to staging buffer. COPY: between staging buffer and device. DRAIN: staging buffer to file."
                        + " HOST: between file and memory that the processor reaches. SYNC: the file made durable")
        @Nullable
        String stage;

        @Label("Bytes")
        @Description("0 if it failed")
        @DataAmount
        long bytes;

        @Label("Failure")
        @Nullable
        String failure;
    }

    /** A transfer does not take a path that its backend prefers: one event for each such path. */
    @Name("io.penstock.Fallback")
    @Label("Fallback")
    @Category("Penstock")
    @Enabled(false)
    @StackTrace(false)
    static final class FallbackEvent extends Event {

        @Label("Backend")
        @Nullable
        String backend;

        @Label("Transfer")
        @Nullable
        String transfer;

        @Label("Path Not Taken")
        @Nullable
        String path;

        @Label("Reason")
        @Nullable
        String reason;
    }

    /** The {@link Counters} of an open backend, by default once a second. */
    @Name("io.penstock.Counters")
    @Label("Counters")
    @Category("Penstock")
    @Enabled(false)
    @Period("1 s")
    @StackTrace(false)
    static final class CountersEvent extends Event {

        @Label("Backend")
        @Nullable
        String backend;

        @Label("Means")
        @Description("By what means it moves bytes, why by no better ones, and the remedy")
        @Nullable
        String means;

        @Label("In Flight")
        @Description(
                "Transfers whose native operations have not all ended, and calls that open a file or allocate memory")
        int inFlight;

        @Label("Files")
        int files;

        @Label("Buffers")
        int buffers;

        @Label("Pins")
        @Description("How many times transfers, leases and views use the files and buffers")
        long pins;

        @Label("Staging Buffers")
        @Description("The staging buffers of the backend's I/O queues, which other backends may share")
        int stagingBuffers;

        @Label("Staging Buffers In Use")
        int stagingBuffersInUse;

        @Label("Fallbacks")
        @Description("Transfers that did not take the path that the backend prefers, since it was opened")
        long fallbacks;
    }
}
