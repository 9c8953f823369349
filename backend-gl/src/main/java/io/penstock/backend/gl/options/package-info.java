// SPDX-License-Identifier: Apache-2.0
/** The options of this backend. Depends on no other package of the backend. */
@NullMarked
package io.penstock.backend.gl.options;

import org.jspecify.annotations.NullMarked;
