// SPDX-License-Identifier: Apache-2.0
/** The embedded default: host memory, on every machine. */
module io.penstock.backend.host {
    requires io.penstock.engine;

    provides io.penstock.spi.BackendProvider with
            io.penstock.backend.host.HostProvider;
}
