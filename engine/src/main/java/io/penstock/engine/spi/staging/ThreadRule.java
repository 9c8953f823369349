// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

/** Which threads may call a device. */
public enum ThreadRule {
    /** Any number at once (CUDA, OpenCL): fillers copy what they have filled. */
    MANY,
    /** One, always the same (a GL context that the backend made, the D3D11 immediate context). */
    ONE,
    /** The application's, when it lends itself (its render loop). */
    PUMP
}
