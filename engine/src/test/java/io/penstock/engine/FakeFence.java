// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** A fence that the test signals. */
public class FakeFence implements DeviceFence {

    private final Sinks.Empty<Void> passed = Sinks.empty();
    public boolean closed;
    public boolean signalled;
    public long handle;

    public void pass() {
        signalled = true;
        passed.tryEmitEmpty().orThrow();
    }

    public int subscribers() {
        return passed.currentSubscriberCount();
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
        return Mono.empty();
    }

    @Override
    public long nativeHandle() {
        return handle;
    }

    @Override
    public void close() {
        closed = true;
    }
}
