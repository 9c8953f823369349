// SPDX-License-Identifier: Apache-2.0
package io.penstock.spi;

import io.penstock.Option;
import java.util.List;

/**
 * The options of a module that is not a backend; loaded by {@link java.util.ServiceLoader}. A backend's are {@link
 * BackendProvider#options}.
 *
 * <p>A provider's constructor does nothing that can fail.
 */
public interface OptionProvider {

    /** Returns the options of the module. */
    List<Option<?>> options();
}
