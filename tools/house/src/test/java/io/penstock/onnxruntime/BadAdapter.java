// SPDX-License-Identifier: Apache-2.0
package io.penstock.onnxruntime;

import io.penstock.backend.host.HostProvider;

/** In the package of an adapter, but it knows a backend. */
public interface BadAdapter {
    HostProvider backend();
}
