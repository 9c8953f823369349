// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * A closeable resource between the code that makes it and the subscriber that asked for it and may cancel meanwhile.
 *
 * <p><b>Ownership:</b> arrival, failure, delivery and cancel compete in one atomic step. A resource that arrives belongs
 * to the handover, until it is {@linkplain #take taken}, which one caller does. One that arrives second, or too late, is
 * discarded. Reactor's {@code publishOn}, {@code usingWhen} and {@code Mono.create} do not do this: they drop a value
 * that is cancelled between two threads.
 *
 * <p><b>Threading:</b> all methods on any thread, any number of times.
 */
public class Handover<T extends AutoCloseable> {

    private static final Object TAKEN = new Object();
    private static final Object GIVEN_UP = new Object();

    @SuppressWarnings("rawtypes") // a class literal has no type arguments
    private static final AtomicReferenceFieldUpdater<Handover, Object> SLOT =
            AtomicReferenceFieldUpdater.newUpdater(Handover.class, Object.class, "slot");

    // null -> the resource or a Throwable -> TAKEN; or null -> GIVEN_UP.
    private volatile @Nullable Object slot;

    private final Context context;

    /**
     * Creates a handover.
     *
     * @param context of the subscriber, for errors that nobody else gets
     */
    public Handover(Context context) {
        this.context = context;
    }

    /** Returns the subscriber's context. */
    public Context currentContext() {
        return context;
    }

    /** Brings the resource, whose owner this is from now on. Discards it, and returns false, if it comes too late. */
    public final boolean arrive(T made) {
        boolean first = SLOT.compareAndSet(this, null, made);
        if (!first) {
            drop(made);
        }
        return first;
    }

    /** Ends without a resource; false if that comes too late. */
    public boolean fail(Throwable cause) {
        return SLOT.compareAndSet(this, null, cause);
    }

    /** Asks for no resource any more: one that arrives is discarded. False if something has come before. */
    public final boolean giveUp() {
        return SLOT.compareAndSet(this, null, GIVEN_UP);
    }

    /** Returns whether it was given up before anything came. */
    public final boolean isGivenUp() {
        return slot == GIVEN_UP;
    }

    /** Returns whether nothing has come, and nobody has given up. */
    public final boolean isPending() {
        return slot == null;
    }

    /** Returns the resource, which stays here; null if it is not here yet, or not any more. */
    @SuppressWarnings("unchecked") // what is none of the others was brought by arrive()
    public final @Nullable T resource() {
        Object here = slot;
        return here == null || here == TAKEN || here == GIVEN_UP || here instanceof Throwable ? null : (T) here;
    }

    /** Returns the failure, which stays here; null if there is none, or not any more. */
    public final @Nullable Throwable failure() {
        return slot instanceof Throwable failure ? failure : null;
    }

    /** Takes the resource, which is the caller's from now on; null if it is not here. */
    public final @Nullable T take() {
        T here = resource();
        return here != null && SLOT.compareAndSet(this, here, TAKEN) ? here : null;
    }

    /** Takes the failure, which the caller signals; null if it is not here. */
    public final @Nullable Throwable takeFailure() {
        Throwable here = failure();
        return here != null && SLOT.compareAndSet(this, here, TAKEN) ? here : null;
    }

    /** As {@link #take}; gives up if nothing has come yet. */
    public final @Nullable T end() {
        return giveUp() ? null : take();
    }

    /** Disposes of a resource that the subscriber does not get. */
    protected void discard(T unwanted) throws Exception {
        unwanted.close();
    }

    /** Discards a resource that was taken; an error of that is dropped, as Reactor drops errors. */
    protected final void drop(T unwanted) {
        drop(unwanted, () -> discard(unwanted), context);
    }

    /** Closes what came behind the end of another kind of handover; as {@link #drop(AutoCloseable)}. */
    public static void drop(AutoCloseable unwanted, Context context) {
        drop(unwanted, unwanted, context);
    }

    private static void drop(AutoCloseable unwanted, AutoCloseable closing, Context context) {
        try {
            closing.close();
        } catch (Throwable e) { // a vendor's library that lacks a function, too
            Operators.onErrorDropped(
                    new IllegalStateException("closing " + unwanted + " after a cancel failed", e), context);
        }
    }
}
