// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * What a transfer would do, computed before it runs.
 *
 * @param path the path it would take
 * @param evidence how the path was determined
 * @param segments the number of native commands it would be split into; a large read may be split into more while
 *     the backend is idle, so that several threads share it
 * @param alignment the alignment that the path requires, in bytes; 1 if none
 * @param whyNotDirect why the path is not {@link TransferPath#DIRECT}; empty if it is
 * @param remedy what would make it more direct; empty if nothing would
 */
public record Explanation(
        TransferPath path, Evidence evidence, long segments, long alignment, String whyNotDirect, String remedy) {}
