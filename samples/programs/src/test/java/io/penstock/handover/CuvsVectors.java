// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import io.penstock.Backend;
import io.penstock.formats.DeviceArray;
import io.penstock.formats.DlTensor;
import io.penstock.formats.LoadedArrays;
import io.penstock.formats.Loader;
import java.nio.ByteBuffer;
import java.nio.file.Path;

/** Vectors as tensors of DLPack, and cuVS by its C library. */
final class CuvsVectors {

    private CuvsVectors() {}

    /** Loads the vectors of {@code base.fvecs} to a GPU, as one matrix that owns its memory. */
    static DlTensor load(Backend gpu, Path file, int deviceType) {
        LoadedArrays loaded = Loader.of(gpu).load(file).block();
        DeviceArray vectors = loaded.arrays().get(0);
        return new DlTensor(vectors, deviceType, 0, loaded::close);
    }

    /** Returns the address of the {@code DLManagedTensor}; {@code host} is the host backend. */
    static long lend(DlTensor tensor, Backend host, long deleter) {
        return tensor.lend(host.wrap(ByteBuffer.allocateDirect(tensor.bytes())), deleter);
    }

    /** For libraries that end what they take over: one function for all tensors, which must stay referenced. */
    interface Deleter extends Callback {
        void deleted(Pointer tensor);
    }

    static final Deleter DELETER = tensor -> DlTensor.deleted(Pointer.nativeValue(tensor));

    static long deleter() {
        return Pointer.nativeValue(CallbackReference.getFunctionPointer(DELETER));
    }

    /** Builds an index without a copy of the vectors: close the tensor behind the index. */
    static Pointer bruteForce(NativeLibrary cuvs, Pointer resources, long tensor) {
        PointerByReference index = new PointerByReference();
        check(cuvs, "cuvsBruteForceIndexCreate", index);
        int l2Expanded = 0; // of cuvsDistanceType
        check(cuvs, "cuvsBruteForceBuild", resources, new Pointer(tensor), l2Expanded, 0f, index.getValue());
        return index.getValue();
    }

    private static void check(NativeLibrary cuvs, String function, Object... arguments) {
        if (cuvs.getFunction(function).invokeInt(arguments) != 1) { // CUVS_SUCCESS
            throw new IllegalStateException(
                    function + ": " + cuvs.getFunction("cuvsGetLastErrorText").invokeString(new Object[0], false));
        }
    }
}
