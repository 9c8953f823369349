// SPDX-License-Identifier: Apache-2.0
/**
 * The entry point: the provider, the probe, and the paths that the options select. Depends on all other packages; none
 * depends on it.
 */
@NullMarked
package io.penstock.backend.cufile.paths;

import org.jspecify.annotations.NullMarked;
