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
import org.jspecify.annotations.Nullable;

/** A step of a request that passes a staging buffer. The event's thread is the one that saw its end. */
@Name("io.penstock.Stage")
@Label("Stage")
@Category("Penstock")
@Enabled(false)
@Threshold("1 ms")
@StackTrace(false)
final class StageEvent extends Event {

    @Label("Stage")
    @Description("FILL: file to staging buffer. COPY: between staging buffer and device. DRAIN: staging buffer to file."
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
