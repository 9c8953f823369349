// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.nio.ByteBuffer;

/**
 * Whole slices of a volume, as they are in the file.
 *
 * @param from the first slice
 * @param to the slice behind the last
 * @param voxels their bytes from index 0, in the file's byte order; valid only during {@link SlabVisitor#visit}
 */
public record Slab(int from, int to, ByteBuffer voxels) {}
