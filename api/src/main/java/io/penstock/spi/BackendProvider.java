// SPDX-License-Identifier: Apache-2.0
package io.penstock.spi;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import java.util.List;

/**
 * Opens one kind of backend; found by {@link java.util.ServiceLoader}.
 *
 * <p>A provider's constructor does nothing that can fail: no native library is loaded before {@link #probe}.
 */
public interface BackendProvider {

    /** Returns the name that {@code Backends.open} knows, lower case, for example {@code cufile}. */
    String name();

    /** Returns one line that says what the backend moves data to, for {@code doctor}. */
    String description();

    /**
     * Returns the place of this backend in {@code Backends.openGpu}: the lowest that is available on a hardware
     * device wins. Host memory is no GPU and answers {@link Integer#MAX_VALUE}.
     */
    int gpuOrder();

    /** Returns the options that this backend reads, beside those that every backend has. */
    List<Option<?>> options();

    /**
     * Returns whether {@link #open} would work; creates no context and leaves nothing behind.
     *
     * <p><b>Errors:</b> never throws: what goes wrong is the reason of the answer (rule 501).
     *
     * @param options resolved, with values from code, system properties and environment
     */
    Availability probe(Options options);

    /**
     * Opens the backend.
     *
     * @param options resolved, as in {@link #probe}
     * @throws io.penstock.BackendUnavailableException if it cannot be used here, with the reason
     */
    Backend open(Options options);
}
