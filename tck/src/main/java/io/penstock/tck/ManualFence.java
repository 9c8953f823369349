// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A fence that the test signals. */
final class ManualFence implements DeviceFence {

    private final Sinks.Empty<Void> passed = Sinks.empty();
    private volatile boolean signalled;

    void pass() {
        signalled = true;
        passed.tryEmitEmpty().orThrow();
    }

    @Override
    public boolean isSignalled() {
        return signalled;
    }

    @Override
    public Mono<Void> signalled() {
        return passed.asMono();
    }

    @Override
    public Mono<Completion> outcome() {
        return passed.asMono().then(Mono.empty());
    }

    @Override
    public long nativeHandle() {
        return 0;
    }

    @Override
    public void close() {}
}
