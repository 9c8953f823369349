// SPDX-License-Identifier: Apache-2.0
/** ONNX Runtime's tensors over device memory. */
module io.penstock.onnxruntime {
    requires transitive io.penstock.formats;
    requires transitive com.microsoft.onnxruntime;
    requires com.sun.jna;
    requires static transitive org.jspecify;

    exports io.penstock.onnxruntime;
}
