// SPDX-License-Identifier: Apache-2.0
/** The sample without Penstock, to compare with; where the sample does not scan for its own parts. */
@NullMarked
package io.penstock.samples.plainspring;

import org.jspecify.annotations.NullMarked;
