// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import io.penstock.Completion;
import io.penstock.DeviceFence;
import io.penstock.Transfer;

/** The part of the workload that enqueues transfers, and has others wait for their fences. */
final class Fences {

    private final Workload workload;
    private final World world;
    private final Chance chance;

    Fences(Workload workload) {
        this.workload = workload;
        this.world = workload.world;
        this.chance = workload.chance;
    }

    void begin() {
        Attempt attempt = chance.oneIn(2) ? workload.attempts.newRead() : workload.attempts.newWrite();
        if (attempt == null) {
            return;
        }
        Watch<DeviceFence> watch = new Watch<>(world, "fence of " + attempt, fence -> got(attempt, fence), e -> {
            if (e != null) {
                attempt.fail(e);
                workload.expect("fence of " + attempt, e, attempt);
            }
        });
        watch.mayBeCancelled = false;
        attempt.watchedBy(watch);
        attempt.begin();
        workload.begin(watch);
        workload.backend.enqueue(attempt.transfer()).subscribe(watch);
        if (chance.oneIn(3)) {
            world.later(chance.below(4000), () -> workload.cancel(watch, attempt));
        }
    }

    private void got(Attempt attempt, DeviceFence fence) {
        Watch<Completion> outcome = new Watch<>(world, "outcome of " + attempt, attempt::succeed, e -> {
            if (!fence.isSignalled()) {
                throw new Violation("204: an outcome of a fence that is not signalled");
            }
            if (e != null) {
                attempt.fail(e);
                workload.expect("outcome of " + attempt, e, attempt);
            }
        });
        attempt.accepted();
        outcome.mayBeCancelled = false; // the transfer would go on
        attempt.watchedBy(outcome);
        workload.begin(outcome);
        fence.outcome().subscribe(outcome);
        if (chance.oneIn(2)) {
            behind(fence);
        }
        world.later(chance.below(5000), fence::close);
    }

    private void behind(DeviceFence fence) {
        Attempt attempt = chance.oneIn(2) ? workload.attempts.newRead() : workload.attempts.newWrite();
        if (attempt != null) {
            Transfer transfer = attempt.transfer().after(fence);
            workload.submit(attempt, transfer);
        }
    }
}
