// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.DeviceFence;
import io.penstock.Transfer;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;

/** Opens a transfer and hands out the fence behind it, once other work may wait on it. */
final class MonoEnqueue extends Mono<DeviceFence> {

    private final EngineBackend backend;
    private final Transfer transfer;

    MonoEnqueue(EngineBackend backend, Transfer transfer) {
        this.backend = backend;
        this.transfer = transfer;
    }

    @Override
    public void subscribe(CoreSubscriber<? super DeviceFence> actual) {
        Mono<DeviceFence> fence = Mono.defer(() -> {
            TransferFence behind =
                    new TransferFence(backend, transfer, backend.driver().fencePoint(transfer, true));
            behind.open();
            if (behind.isAdmitted()) {
                return behind.ready();
            }
            // What was refused has no place in any order: its reason is this Mono's, not that of a fence.
            return behind.outcome().then(Mono.empty());
        });
        // On the scheduler in any case: nothing completes inside subscribe.
        fence.subscribeOn(backend.scheduler()).subscribe(actual);
    }
}
