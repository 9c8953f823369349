// SPDX-License-Identifier: Apache-2.0
package io.penstock.house.bad;

/** Uses a type of its package that uses it. */
public interface BadCycle {

    /** Returns the other half of the cycle. */
    BadHelper other();
}
