// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.backend.host.HostProvider;

/** In the engine's package, but it knows a backend. */
public interface BadEngine {
    HostProvider backend();
}
