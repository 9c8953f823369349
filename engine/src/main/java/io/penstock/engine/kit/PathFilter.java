// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import io.penstock.engine.spi.IoPath;

/**
 * Wraps every path of every backend opened while the filter is visible, to hold, count or fail requests. Loaded with
 * {@link java.util.ServiceLoader} by the thread's context class loader. For tests, not for production.
 */
public interface PathFilter {

    /** Returns the path to use in place of {@code ioPath}; the same, or one that delegates to it. */
    IoPath around(IoPath ioPath);
}
