// SPDX-License-Identifier: Apache-2.0
package io.penstock;

/**
 * What a transfer would do, said before it runs.
 *
 * @param path the path that it would take
 * @param evidence how that is known
 * @param pieces the native commands that it would be cut into
 * @param alignment the granularity of that path in bytes; 1 where there is none
 * @param whyNotDirect why the path is not {@link TransferPath#DIRECT}; empty where it is
 * @param remedy what would make it more direct; empty where nothing would
 */
public record Explanation(
        TransferPath path, Evidence evidence, long pieces, long alignment, String whyNotDirect, String remedy) {}
