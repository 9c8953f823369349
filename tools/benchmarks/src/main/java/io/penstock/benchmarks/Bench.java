// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.util.Map;

/** What the rows of a backend share: files, devices, processes; and its contenders. */
interface Bench extends AutoCloseable {

    /** Returns the values of the words that begin with $ in its {@link Table}. */
    Map<String, String> values();

    /** Returns whether a condition of its table holds on this machine. */
    boolean holds(String condition);

    /** Opens the contender of an order, ready to run. */
    Contender open(Order order) throws Exception;

    /** Returns a row that is measured in a way of its own. */
    default Row row(String name, Order order) {
        throw new IllegalArgumentException(name + ": " + order);
    }

    @Override
    default void close() {}
}
