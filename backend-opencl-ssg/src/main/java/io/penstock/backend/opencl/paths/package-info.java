// SPDX-License-Identifier: Apache-2.0
/**
 * The entry point: the provider, the probe, the device, and the paths that the options select. Depends on all other
 * packages but {@code gma}; none depends on it.
 */
@NullMarked
package io.penstock.backend.opencl.paths;

import org.jspecify.annotations.NullMarked;
