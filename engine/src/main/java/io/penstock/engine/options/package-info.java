// SPDX-License-Identifier: Apache-2.0
/** What a user sets of the engine, whatever the backend; see {@link io.penstock.CommonOptions} for the others. */
@NullMarked
package io.penstock.engine.options;

import org.jspecify.annotations.NullMarked;
