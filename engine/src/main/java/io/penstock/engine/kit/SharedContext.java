// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import io.penstock.engine.spi.Shared;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A device's context, which a backend and all that it has allocated use together: freed when its last user leaves.
 *
 * <p><b>Threading:</b> thread-safe.
 *
 * <p><b>Ownership:</b> each opener and each {@link #join} counts as a user; the last {@link #leave} frees the parts, and
 * then the context.
 *
 * @param <C> the type of the context itself
 */
public abstract class SharedContext<C extends SharedContext<C>> {

    /** State kept in a context: one object per type, closed with the context, which has no user then. */
    public interface Part {

        /** Frees everything. */
        default void close() {}
    }

    private static final Logger LOG = LoggerFactory.getLogger(SharedContext.class);

    private final Shared<?, C> users;
    private final Map<Class<?>, Part> parts = new HashMap<>(); // guarded by itself
    private final Queue<Runnable> atEnd = new ConcurrentLinkedQueue<>();

    /**
     * Creates a context, for {@link Shared#open} of the registry.
     *
     * @param users counts its users, and calls {@link #close} after the last one
     */
    protected SharedContext(Shared<?, C> users) {
        this.users = users;
    }

    /**
     * Adds a user; the context must already have one.
     *
     * @throws IllegalStateException if it has none
     */
    public final void join() {
        users.join(self());
    }

    /**
     * Removes a user; the last one closes the context.
     *
     * @throws IllegalStateException if it has no user: it would be freed twice
     */
    public final void leave() {
        users.leave(self());
    }

    /** Returns the part of a type, created on first use. */
    public final <T extends Part> T part(Class<T> type, Function<? super C, T> make) {
        synchronized (parts) {
            Part known = parts.get(type);
            if (known == null) {
                known = make.apply(self());
                parts.put(type, known);
                atEnd(known::close);
            }
            return type.cast(known);
        }
    }

    /** Registers calls to make when the last user has left, before the context is freed. */
    public final void atEnd(Runnable calls) {
        atEnd.add(calls);
    }

    /** Frees the parts, the oldest first, and then the context. */
    protected final void close() {
        atEnd.forEach(this::run);
        free();
    }

    private void run(Runnable calls) {
        try {
            calls.run();
        } catch (RuntimeException | Error e) { // the other parts and the context are freed nevertheless
            LOG.warn("a part of a context cannot be freed: {}", this, e);
        }
    }

    /** Frees the native context, which has neither users nor parts any more. */
    protected abstract void free();

    @SuppressWarnings("unchecked") // as the type's parameter promises
    private C self() {
        return (C) this;
    }
}
