// SPDX-License-Identifier: Apache-2.0
/**
 * Tests on Windows, or what Wine makes of it: {@code backend-dx11/wine/run}. Tests that are tagged {@code fake} run in
 * a JVM of their own, on a d3d11.dll that stands in front of the real one.
 */
@NullMarked
package io.penstock.backend.dx11;

import org.jspecify.annotations.NullMarked;
