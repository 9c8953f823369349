// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

/** How the completion of a copy is detected. */
public enum CopyCompletion {
    /** By a fence if the device supports them, otherwise by queries. */
    AUTO,
    /** By an {@code ID3D11Fence}. */
    FENCE,
    /** By event queries. */
    QUERY
}
