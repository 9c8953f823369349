// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.recording;

import io.penstock.Backend.Counters;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.Period;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** The {@link Counters} of an open backend, by default once a second. */
@Name("io.penstock.Counters")
@Label("Counters")
@Category("Penstock")
@Enabled(false)
@Period("1 s")
@StackTrace(false)
final class CountersEvent extends Event {

    @Label("Backend")
    @Nullable
    String backend;

    @Label("In Flight")
    @Description("Transfers whose native operations have not all ended, and calls that open a file or allocate memory")
    int inFlight;

    @Label("Files")
    int files;

    @Label("Buffers")
    int buffers;

    @Label("Pins")
    @Description("How many times transfers, leases and views use the files and buffers")
    long pins;

    @Label("Staging Buffers")
    @Description("Those of the backend's I/O queues, which other backends may share")
    int stagingBuffers;

    @Label("Staging Buffers In Use")
    int stagingBuffersInUse;

    @Label("Fallbacks")
    @Description("Transfers that did not take the path that the backend prefers, since it was opened")
    long fallbacks;
}
