// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import io.penstock.BadApi;
import io.penstock.backend.host.HostProvider;

/** In the engine's package, but it knows a backend; and a type of the API that knows it. */
public interface BadEngine {
    HostProvider backend();

    BadApi api();
}
