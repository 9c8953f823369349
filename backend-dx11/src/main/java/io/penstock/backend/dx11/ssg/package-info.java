// SPDX-License-Identifier: Apache-2.0
/**
 * The path by AMD's {@code IAmdDxExtSSG}: the device of {@code engine.kit.ssg}, and the constants of AMD's header. Does
 * not depend on staging buffers.
 */
@NullMarked
package io.penstock.backend.dx11.ssg;

import org.jspecify.annotations.NullMarked;
