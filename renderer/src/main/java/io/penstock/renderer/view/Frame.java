// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.penstock.renderer.VolumeReader;

/**
 * A frame that was drawn.
 *
 * @param jpeg the picture
 * @param side its width and height in pixels
 * @param nanos how long it took, from the request's turn to the encoded picture
 * @param pass the pass over the volume that it was drawn from
 * @param device the name of the device that the voxels went to
 */
@SuppressWarnings("ArrayRecordComponent") // handed over, not copied
record Frame(byte[] jpeg, int side, long nanos, VolumeReader.Pass pass, String device) {}
