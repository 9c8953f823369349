// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.backend.host.HostProvider;

/** In the package of the formats, but it knows a backend. */
public interface BadReader {
    HostProvider backend();
}
