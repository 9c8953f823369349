// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.opencl;

/** Checks of OpenCL's results. */
final class Answers {

    private Answers() {}

    /**
     * Checks that a call has succeeded.
     *
     * @throws IllegalStateException with OpenCL's error
     */
    static void check(int answer, String call) {
        if (answer != 0) {
            throw new IllegalStateException(call + " -> " + answer);
        }
    }
}
