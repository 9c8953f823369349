// SPDX-License-Identifier: Apache-2.0
package uk.ac.manchester.tornado.api.common;

/**
 * As TornadoVM 7.0.1 declares it, for a recipe to be compiled and called: its artifacts are not to be had by this
 * build.
 */
public enum Access {
    NONE,
    READ_ONLY,
    WRITE_ONLY,
    READ_WRITE
}
