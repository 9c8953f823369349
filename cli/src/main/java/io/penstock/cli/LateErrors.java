// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.context.Context;

/**
 * Errors behind the one that ended a stream: those of the other chunks that are written to a full disk, or of what is sent to a client that has left. Reactor
 * would log each as an error, with its stack.
 */
public final class LateErrors {

    private static final Logger LOG = LoggerFactory.getLogger(LateErrors.class);
    private static final String KEY = "reactor.onErrorDropped.local"; // of Operators.onErrorDropped

    private LateErrors() {}

    /** Returns a context whose subscriptions log such errors at level DEBUG. */
    public static Context debugged(Context context) {
        return context.put(KEY, (Consumer<Throwable>) e -> LOG.debug("an error after the end", e));
    }
}
