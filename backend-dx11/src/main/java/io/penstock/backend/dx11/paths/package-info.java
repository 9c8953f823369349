// SPDX-License-Identifier: Apache-2.0
/** The entry point: the provider, and the choice of paths. Depends on all other packages; none depends on it. */
@NullMarked
package io.penstock.backend.dx11.paths;

import org.jspecify.annotations.NullMarked;
