// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.LoadedArrays;
import io.penstock.onnxruntime.OnnxTensors;
import java.util.HashMap;
import java.util.Map;

/** ONNX Runtime: arrays of a file as inputs of a model. */
final class OnnxModel {

    private OnnxModel() {}

    /** Returns the first output. */
    static Object run(OrtEnvironment environment, OrtSession session, LoadedArrays arrays) throws OrtException {
        Map<String, OnnxTensor> inputs = new HashMap<>();
        try {
            for (DeviceArray array : arrays.arrays()) {
                inputs.put(array.name(), OnnxTensors.of(environment, array));
            }
            try (OrtSession.Result result = session.run(inputs)) {
                return result.get(0).getValue();
            }
        } finally {
            inputs.values().forEach(OnnxTensor::close); // before the arrays
        }
    }
}
