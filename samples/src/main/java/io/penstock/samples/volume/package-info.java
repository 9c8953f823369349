// SPDX-License-Identifier: Apache-2.0
/**
 * Reads NIfTI-1 volumes and draws them slab by slab, never holding one whole.
 *
 * <p>Nothing here does I/O but {@link io.penstock.samples.volume.NiftiFile}: whoever streams the file cuts it with
 * {@link io.penstock.samples.volume.SlabPlan} and hands each slab to a {@link io.penstock.samples.volume.SlabVisitor}.
 */
@NullMarked
package io.penstock.samples.volume;

import org.jspecify.annotations.NullMarked;
