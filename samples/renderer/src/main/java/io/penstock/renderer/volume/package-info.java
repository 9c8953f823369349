// SPDX-License-Identifier: Apache-2.0
/**
 * Reads NIfTI volumes and draws them slab by slab, never holding one whole.
 *
 * <p>Only {@link io.penstock.renderer.volume.NiftiFile} does I/O here: the reader of the file splits it with {@link
 * io.penstock.renderer.volume.SlabPlan} and passes each slab to a {@link io.penstock.renderer.volume.SlabVisitor}.
 */
@NullMarked
package io.penstock.renderer.volume;

import org.jspecify.annotations.NullMarked;
