// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * The result of a {@link Survey} of a volume.
 *
 * @param header of the volume
 * @param scale how its voxels become codes
 * @param outside the code around the volume: its smallest
 * @param split the codes of background and tissue
 * @param map the coarse map
 */
record Terrain(NiftiHeader header, CodeScale scale, int outside, Histogram.Split split, CoarseMap map) {}
