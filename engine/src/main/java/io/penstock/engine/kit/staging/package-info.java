// SPDX-License-Identifier: Apache-2.0
/**
 * For devices that accept calls from one thread only, as the devices of OpenGL and Direct3D do: an
 * {@link io.penstock.engine.kit.staging.ExecutorPump}, which makes all of these calls, driven by an
 * {@link io.penstock.engine.kit.staging.ExecutorThread} or by the application; and boxes of images. A device that any
 * thread may call needs none of it, nor does one for which the staging queue starts a thread
 * ({@link io.penstock.engine.spi.staging.ThreadRule#ONE}).
 */
@NullMarked
package io.penstock.engine.kit.staging;

import org.jspecify.annotations.NullMarked;
