// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.engine.resource.Owner;
import reactor.core.publisher.Mono;

/**
 * An imported fence: wraps the driver's fence, and delivers its signals on the backend's scheduler.
 *
 * @param fence the driver's fence, which signals on a thread of the driver
 */
public record ImportedFence(DeviceFence fence, Owner owner) implements DeviceFence {

    @Override
    public boolean isSignalled() {
        return fence.isSignalled();
    }

    @Override
    public Mono<Void> signalled() {
        return owner.deliver(fence.signalled());
    }

    @Override
    public Mono<Completion> outcome() {
        return owner.deliver(fence.outcome());
    }

    @Override
    public long nativeHandle() {
        return fence.nativeHandle();
    }

    @Override
    public void close() {
        fence.close();
    }
}
