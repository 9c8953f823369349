// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import io.penstock.engine.BadEngine;

/** In a package of the API, but it knows the engine. */
public interface BadApi {
    BadEngine engine();
}
