// SPDX-License-Identifier: Apache-2.0
/** The entry point: the provider, the probe, and the paths that the options select. */
@NullMarked
package io.penstock.backend.hip.paths;

import org.jspecify.annotations.NullMarked;
