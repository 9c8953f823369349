// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

/** Where device memory, streams and events come from; {@link HipOptions#RUNTIME}. */
public enum HipRuntime {
    /** The HIP runtime, and so an AMD GPU. */
    HIP,
    /** The CUDA driver, for AMD's hipFile as it is built over NVIDIA's cuFile: to test that library, and nothing else. */
    CUDA
}
