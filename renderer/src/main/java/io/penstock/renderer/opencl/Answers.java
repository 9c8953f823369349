// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.opencl;

/** What OpenCL's functions answer. */
final class Answers {

    private Answers() {}

    /**
     * Goes on if a call has succeeded.
     *
     * @throws IllegalStateException with OpenCL's answer
     */
    static void check(int answer, String call) {
        if (answer != 0) {
            throw new IllegalStateException(call + " -> " + answer);
        }
    }
}
