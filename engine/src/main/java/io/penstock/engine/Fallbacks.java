// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.Transfer;
import io.penstock.TransferPath;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.LoggerFactory;

/**
 * Logs why transfers bypass a path that their backend prefers, once for each reason: a transfer that is slower than
 * expected is explained even where nobody reads {@code Completion.reason}. A reason may contain numbers, as a length that
 * is not aligned does, so their count is bounded.
 *
 * <p>Thread-safe. A reason that was logged costs one lookup.
 */
final class Fallbacks {

    static final int MOST = 16;

    private final Set<String> reasons = ConcurrentHashMap.newKeySet();
    private final Consumer<String> log;

    Fallbacks() {
        this(LoggerFactory.getLogger(Fallbacks.class)::info);
    }

    Fallbacks(Consumer<String> log) {
        this.log = log;
    }

    void bypassed(String backend, TransferPath path, String reason, Transfer transfer) {
        if (reasons.contains(reason) || reasons.size() >= MOST || !reasons.add(reason)) { // the first takes no lock
            return;
        }
        log.accept("backend " + backend + " does not use " + path + " for " + transfer + ": " + reason
                + (reasons.size() >= MOST ? "; further reasons are not logged" : "; this reason is logged once"));
    }
}
