// SPDX-License-Identifier: Apache-2.0
/**
 * d3d11.dll, dxgi.dll and kernel32.dll by JNA's direct mapping, and the COM interfaces behind them: one class per
 * header, whose methods go through the object's own table of functions. Names are Microsoft's.
 *
 * <p>Nothing here may be called, nor any class with native methods be initialized, before {@link
 * io.penstock.backend.dx11.ffi.D3d11.Exports#LIBRARY} is loaded.
 */
@NullMarked
package io.penstock.backend.dx11.ffi;

import org.jspecify.annotations.NullMarked;
