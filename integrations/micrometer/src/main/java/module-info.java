// SPDX-License-Identifier: Apache-2.0
/** Meters of transfers for Micrometer. */
module io.penstock.micrometer {
    requires transitive io.penstock.api;
    requires transitive micrometer.core;

    exports io.penstock.micrometer;
}
