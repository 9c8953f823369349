// SPDX-License-Identifier: Apache-2.0
/**
 * The door: the provider, the probe, and the routes that options ask for. Depends on all other packages; none depends on it.
 */
@NullMarked
package io.penstock.backend.cufile.routes;

import org.jspecify.annotations.NullMarked;
