// SPDX-License-Identifier: Apache-2.0
/** Runnable programs: streaming renderers, and the {@code penstock} command that starts them. */
@NullMarked
package io.penstock.samples;

import org.jspecify.annotations.NullMarked;
