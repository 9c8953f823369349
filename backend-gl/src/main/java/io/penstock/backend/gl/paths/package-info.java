// SPDX-License-Identifier: Apache-2.0
/** The provider, the probe, the driver, and the choice of paths. Only the exported package depends on it. */
@NullMarked
package io.penstock.backend.gl.paths;

import org.jspecify.annotations.NullMarked;
