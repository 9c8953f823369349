// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Transfer;
import io.penstock.TransferPath;
import io.penstock.engine.recording.FlightRecording;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Counts the transfers that do not take the path that their backend prefers, and logs why, once for each reason: this
 * explains slow transfers to applications that do not read {@code Completion.reason}. A reason may contain numbers,
 * such as an unaligned length, so the number of logged reasons is bounded.
 *
 * <p>Thread-safe. A reason that was logged costs one lookup.
 */
final class Fallbacks {

    static final int MOST = 16;

    private final LongAdder count = new LongAdder();
    private final Set<String> reasons = ConcurrentHashMap.newKeySet();
    private final Consumer<String> log;

    Fallbacks() {
        this(LoggerFactory.getLogger(Fallbacks.class)::info);
    }

    Fallbacks(Consumer<String> log) {
        this.log = log;
    }

    void taken() {
        count.increment();
    }

    /** Returns how many transfers did not take the first path. */
    long count() {
        return count.sum();
    }

    void bypassed(String backend, TransferPath path, String reason, Transfer transfer) {
        FlightRecording.fallback(backend, transfer, path, reason);
        if (reasons.contains(reason) || reasons.size() >= MOST || !reasons.add(reason)) { // the first takes no lock
            return;
        }
        log.accept("backend " + backend + " does not use " + path + " for " + transfer + ": " + reason
                + (reasons.size() >= MOST ? "; further reasons are not logged" : "; this reason is logged once"));
    }
}
