// SPDX-License-Identifier: Apache-2.0
/**
 * Programs of at most 60 lines, one for each thing that people do with Penstock, to be copied. Each stands alone: none
 * uses another, nor anything of Penstock but its API. docs/samples.md quotes them all.
 */
@NullMarked
package io.penstock.samples;

import org.jspecify.annotations.NullMarked;
