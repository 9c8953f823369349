// SPDX-License-Identifier: Apache-2.0
package io.penstock.lucene;

import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.HostView;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Memory for a part of a file, and the transfer that fills or writes it. */
final class Window {

    final DeviceBuffer memory;
    final HostView view;
    long start; // in the file
    int length; // of what it holds

    @Nullable
    CompletableFuture<@Nullable Completion> transfer;

    Window(DeviceBuffer memory) {
        this.memory = memory;
        this.view = memory.hostView().orElseThrow();
    }

    boolean holds(long offset) {
        return offset >= start && offset < start + length;
    }
}
