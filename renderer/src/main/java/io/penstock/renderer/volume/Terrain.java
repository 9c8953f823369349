// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

/**
 * What a {@link Survey} found out about a volume.
 *
 * @param header the volume's
 * @param scale how its voxels become codes
 * @param outside the code of what lies around the volume: its smallest
 * @param split the codes of background and tissue
 * @param map the coarse map
 */
record Terrain(NiftiHeader header, CodeScale scale, int outside, Histogram.Split split, CoarseMap map) {}
