// SPDX-License-Identifier: Apache-2.0
package io.penstock.spi;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Option;
import io.penstock.Options;
import java.util.List;

/**
 * Opens one kind of backend; loaded by {@link java.util.ServiceLoader}.
 *
 * <p>A provider's constructor does nothing that can fail: no native library is loaded before {@link #probe}.
 */
public interface BackendProvider {

    /** Returns the name to pass to {@code Backends.open}, in lower case, for example {@code cufile}. */
    String name();

    /** Returns one line about what the backend moves data to, for {@code doctor}. */
    String description();

    /**
     * Returns the rank of this backend in {@code Backends.openGpu}: the lowest that is available on a hardware device
     * is opened. The host backend is not a GPU and returns {@link Integer#MAX_VALUE}.
     */
    int gpuOrder();

    /** Returns the options of this backend, besides the common ones. */
    List<Option<?>> options();

    /**
     * Returns whether {@link #open} would succeed. Creates no context and leaves nothing behind.
     *
     * <p><b>Errors:</b> never throws: a failure becomes the reason of the result (rule 501).
     *
     * @param options resolved, with values from code, system properties and environment
     */
    Availability probe(Options options);

    /**
     * Opens the backend.
     *
     * @param options resolved, as in {@link #probe}
     * @throws io.penstock.BackendUnavailableException if the backend cannot be used here, with the reason
     */
    Backend open(Options options);
}
