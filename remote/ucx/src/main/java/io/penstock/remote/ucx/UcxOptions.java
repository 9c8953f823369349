// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.Option;
import java.util.List;

/** The options of exports by UCX, in addition to the options of {@link io.penstock.CommonOptions} for other hosts. */
public final class UcxOptions {

    private static final Option.Group OPTIONS = new Option.Group();

    /** Whether UCX accesses exported memory of GPUs itself; see {@link UcxExport#isStaged}. */
    public static final Option<Boolean> GPU_DIRECT = OPTIONS.add(Option.flag(
            "penstock.ucx.gpu-direct",
            false,
            "whether UCX, where it was built with CUDA, accesses the exported memory of a GPU itself; else its bytes"
                    + " go through staging memory, which is faster unless an adapter reaches that memory (GPUDirect"
                    + " RDMA)"));

    private UcxOptions() {}

    /** Returns all options of exports by UCX. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
