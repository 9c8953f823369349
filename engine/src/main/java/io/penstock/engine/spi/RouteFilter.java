// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

/**
 * Stands around every route of every backend that is opened while it can be found: to hold, count or fail requests. Found
 * with {@link java.util.ServiceLoader} by the thread's context class loader. For tests; a program in production has none.
 */
public interface RouteFilter {

    /** Returns the route to use in place of {@code route}; this one, or another that passes on to it. */
    Route around(Route route);
}
