// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.recording;

import jdk.jfr.Category;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.jspecify.annotations.Nullable;

/** A transfer does not take a path that its backend prefers: one event for each such path. */
@Name("io.penstock.Fallback")
@Label("Fallback")
@Category("Penstock")
@Enabled(false)
@StackTrace(false)
final class FallbackEvent extends Event {

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
