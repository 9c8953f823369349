// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import java.util.List;

/** Sets of processors, for tests. */
public final class CpuSets {

    private CpuSets() {}

    /** Returns the processors that the process may use. */
    public static List<Integer> ofProcess() {
        return CpuSet.allowed(LibC.getpid()).stream().boxed().toList();
    }
}
