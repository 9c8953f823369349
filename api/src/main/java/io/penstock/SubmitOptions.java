// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * How {@link Backend#submit(org.reactivestreams.Publisher, SubmitOptions)} pipelines many transfers. Immutable.
 *
 * @param inFlight how many transfers are requested from the publisher ahead of the subscriber: the bound on transfers
 *     in flight and on completions buffered
 * @param inOrder whether completions are emitted in the order of the transfers, or as they occur
 * @param errors what a failed transfer does to the others
 * @param directDelivery whether completions are delivered on the I/O queue itself, which saves a hop; the subscriber
 *     must not block
 */
public record SubmitOptions(int inFlight, boolean inOrder, Errors errors, boolean directDelivery) {

    /** Unordered, 128 in flight, stops at the first error, delivered on the backend's scheduler. */
    public static final SubmitOptions DEFAULT = new SubmitOptions(128, false, Errors.STOP, false);

    public SubmitOptions {
        if (inFlight < 1) {
            throw new IllegalArgumentException("inFlight must be at least 1, was " + inFlight);
        }
    }

    /** What the failure of one transfer does to the others. */
    public enum Errors {
        /** The first failure cancels the rest and is signalled at once. */
        STOP,
        /** All transfers run; then the first failure is signalled, with the others suppressed in it (the first 16). */
        DELAY,
        /** A failure is emitted as a value: a {@link Completion} with a {@link FailedCompletion#error()}. */
        MATERIALIZE
    }

    /** Returns these options with another bound on transfers in flight. */
    public SubmitOptions inFlight(int transfers) {
        return new SubmitOptions(transfers, inOrder, errors, directDelivery);
    }

    /** Returns these options, with completions in the order of the transfers. */
    public SubmitOptions ordered() {
        return new SubmitOptions(inFlight, true, errors, directDelivery);
    }

    /** Returns these options with another treatment of failures. */
    public SubmitOptions errors(Errors treatment) {
        return new SubmitOptions(inFlight, inOrder, treatment, directDelivery);
    }

    /** Returns these options, with delivery on the I/O queue: the subscriber must not block. */
    public SubmitOptions direct() {
        return new SubmitOptions(inFlight, inOrder, errors, true);
    }
}
