// SPDX-License-Identifier: Apache-2.0
/**
 * Reads NIfTI-1 volumes and draws them slab by slab, never holding one whole.
 *
 * <p>Nothing here does I/O but {@link io.penstock.renderer.volume.NiftiFile}: whoever streams the file cuts it with
 * {@link io.penstock.renderer.volume.SlabPlan} and hands each slab to a {@link io.penstock.renderer.volume.SlabVisitor}.
 */
@NullMarked
package io.penstock.renderer.volume;

import org.jspecify.annotations.NullMarked;
