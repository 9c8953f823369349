// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A page that is connected. */
final class Viewer {

    private final Sinks.Empty<Void> left = Sinks.empty();
    private volatile boolean gone;

    /** The source of its last frame; null before the first, and after it failed. Set by the thread of the loop. */
    volatile @Nullable OpenSource source;

    /** Marks it as disconnected: the frame that is being drawn for it ends at its next slab. Any thread. */
    void leave() {
        gone = true;
        left.tryEmitEmpty();
    }

    /** Completes once it is disconnected. */
    Mono<Void> left() {
        return left.asMono();
    }

    boolean isGone() {
        return gone;
    }
}
