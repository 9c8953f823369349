// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi;

import io.penstock.engine.kit.ffi.NativeMemory;

/** In the SPI's package, but it shows what is behind it. */
public interface BadSpi {
    NativeMemory memory();
}
