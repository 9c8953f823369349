// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import io.penstock.ClosedException;
import java.util.function.Consumer;
import reactor.core.Exceptions;
import reactor.core.publisher.Operators;
import reactor.util.Logger;
import reactor.util.Loggers;
import reactor.util.context.Context;

/**
 * Errors after the end of a stream: of the other chunks that are written to a full disk, or of chunks that a client has
 * asked for before it left. Reactor would log each as an error, with its stack.
 */
public final class LateErrors {

    private static final Logger LOG = Loggers.getLogger(LateErrors.class);
    private static final String KEY = "reactor.onErrorDropped.local"; // of Operators.onErrorDropped

    private LateErrors() {}

    /**
     * Returns a context whose subscriptions log at level DEBUG what they drop because a file, a buffer or a chunk was
     * closed: by the cancel that closed it, in most cases. Other errors are dropped as in {@code context}.
     */
    public static Context closedDebugged(Context context) {
        return context.put(KEY, (Consumer<Throwable>) e -> {
            if (Exceptions.unwrap(e) instanceof ClosedException) {
                LOG.debug("an error after the end", e);
            } else {
                Operators.onErrorDropped(e, context);
            }
        });
    }

    /**
     * Returns a context whose subscriptions log such errors at level DEBUG, whatever {@code Hooks.onErrorDropped} is.
     */
    public static Context debugged(Context context) {
        return context.put(KEY, (Consumer<Throwable>) e -> LOG.debug("an error after the end", e));
    }
}
