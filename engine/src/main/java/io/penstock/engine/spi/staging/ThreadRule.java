// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.staging;

/** Which threads may call a device. */
public enum ThreadRule {
    /** Any number at once (CUDA, OpenCL): staging workers copy the buffers they have filled. */
    MANY,
    /** One, always the same (a GL context created by the backend, the D3D11 immediate context). */
    ONE,
    /** A thread of the application that pumps (its render loop). */
    PUMP
}
