// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.cufile.ffi.Cuda;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Four processes on the machine's own GPUs, in turn; {@code .ci/gpu run shared} runs this, and prints the rates and what
 * each process has read.
 */
@Tag("gpu") // in a JVM of its own: a process loads one libcuda
class GpuSharedReadTest extends SharedReadRules {

    private final int[] gpus = new int[1];

    @BeforeEach
    void thereIsOne() {
        GpuSubject.require();
        Cuda.DRIVER.deviceGetCount(gpus);
        bytes = 1024L * MIB + 4099;
        chunkBytes = 4 * MIB;
    }

    @Override
    Map<String, String> environment(int process) {
        return Map.of("PENSTOCK_CUFILE_PATH", "staged", "PENSTOCK_CUFILE_DEVICE", "" + process % gpus[0]);
    }

    @Test
    @Timeout(180)
    void aLargeFileIsReadOnce() throws IOException {
        System.out.println("on " + gpus[0] + " GPUs:");
        bytes = 4096L * MIB;
        chunkBytes = 16 * MIB;
        fourProcessesReadAFileOnce();
    }
}
