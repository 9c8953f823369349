// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Backends;
import io.penstock.Options;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

/** Two processes on the machine's own driver; {@code .ci/gpu run ipc} runs this. */
@Tag("gpu") // in a JVM of its own: a process loads one libcuda
class GpuIpcTest extends IpcRules {

    @BeforeEach
    void open() throws IOException {
        GpuSubject.require();
        gpu = new GpuFixture(folder);
        start(
                gpu.keep(Backends.open("cufile", Options.none().with(CufileOptions.PATH, CufilePath.STAGED))),
                Map.of("PENSTOCK_CUFILE_PATH", "staged"));
    }
}
