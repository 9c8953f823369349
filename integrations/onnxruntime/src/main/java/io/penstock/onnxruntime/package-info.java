// SPDX-License-Identifier: Apache-2.0
/**
 * ONNX Runtime's tensors over the memory that Penstock reads files into: inputs, outputs and weights of a model,
 * without a copy.
 */
@NullMarked
package io.penstock.onnxruntime;

import org.jspecify.annotations.NullMarked;
