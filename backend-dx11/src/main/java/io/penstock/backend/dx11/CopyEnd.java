// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

/** By what the end of a copy is learnt. */
public enum CopyEnd {
    /** By a fence where the device has them, else by queries. */
    AUTO,
    /** By an {@code ID3D11Fence}. */
    FENCE,
    /** By event queries. */
    QUERY
}
