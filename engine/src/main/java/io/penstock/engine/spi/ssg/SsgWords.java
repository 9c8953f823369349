// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

/**
 * What completions and explanations say of one vendor interface.
 *
 * @param computed of counts that are computed
 * @param unreachable why the disk does not reach a buffer
 * @param ring what the memory of the ring is called; this and the next two are empty where there is no ring
 * @param noRing why there is none
 * @param remedy which buffers need no ring
 */
public record SsgWords(String computed, String unreachable, String ring, String noRing, String remedy) {}
