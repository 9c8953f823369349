// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

/**
 * How long a thread polls for its next work before it sleeps, learned from its last waits as KVM's halt polling does
 * ({@code Documentation/virt/kvm/halt-polling.rst} in the kernel): the window opens while work comes soon, and closes
 * when it does not. A thread that gets work every few microseconds stays awake, which saves a wake-up each time; one
 * that is idle, or gets work now and then, sleeps at once.
 *
 * <p><b>Threading:</b> one thread at a time.
 */
final class PollWindow {

    private static final long FIRST_NANOS = 10_000;

    private final long longest;
    private long nanos;

    /** Creates a window of at most {@code longest} nanoseconds, which is closed at first. */
    PollWindow(long longest) {
        this(longest, 0);
    }

    /** As above, open for {@code nanos}; for tests. */
    PollWindow(long longest, long nanos) {
        this.longest = longest;
        this.nanos = nanos;
    }

    /** Returns false if it never opens. */
    boolean isEnabled() {
        return longest > 0;
    }

    /** Returns for how many nanoseconds to poll now; 0 for not at all. */
    long nanos() {
        return nanos;
    }

    /** Learns from a wait that has ended, {@code taken} nanoseconds after it began. */
    void waited(long taken) {
        if (taken > longest) {
            nanos = 0;
        } else if (taken > nanos) {
            nanos = Math.min(longest, Math.max(FIRST_NANOS, 2 * nanos));
        }
    }
}
