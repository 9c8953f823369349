// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

/**
 * The texts of completions and explanations for one vendor interface.
 *
 * @param computed about counts that are computed
 * @param unreachable why the disk does not reach a buffer
 * @param ring the name of the ring's memory; this and the next two are empty if there is no ring
 * @param noRing why there is no ring
 * @param remedy which buffers need no ring
 */
public record SsgTexts(String computed, String unreachable, String ring, String noRing, String remedy) {}
