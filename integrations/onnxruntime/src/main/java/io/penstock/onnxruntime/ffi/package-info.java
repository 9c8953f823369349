// SPDX-License-Identifier: Apache-2.0
/** The functions of ONNX Runtime's C API that its Java API does not have. The only package here that depends on JNA. */
@NullMarked
package io.penstock.onnxruntime.ffi;

import org.jspecify.annotations.NullMarked;
