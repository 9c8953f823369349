// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.cli.testing.GpuFakes;
import io.penstock.renderer.gpu.GpuKernels;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the application makes in CUDA's context goes, also where it is refused half of it. */
class GpuKernelsTest {

    private static final List<String> KINDS = List.of("modules", "streams", "events");

    @BeforeEach
    void find() throws IOException {
        GpuFakes.find();
    }

    @AfterEach
    void forget() {
        GpuFakes.forget();
    }

    private static List<Long> live() {
        return KINDS.stream().map(GpuFakes::live).toList();
    }

    @ParameterizedTest
    @CsvSource({"cuModuleLoadData, 1", "cuStreamCreate, 1", "cuEventCreate, 1", "cuEventCreate, 3"})
    void nothingStaysWhereCudaRefusesTheRest(String call, int nth) {
        try (Backend backend = Backends.open("cufile")) {
            Objects.requireNonNull(backend.allocate(1).block()).close();
            List<Long> before = live();
            GpuFakes.fail(call, nth, 2);
            assertThatThrownBy(() -> GpuKernels.onCuda(backend))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining(call + " -> CUDA_ERROR_OUT_OF_MEMORY");
            assertThat(live()).as("%s", KINDS).isEqualTo(before);
            GpuKernels.onCuda(backend).close();
            assertThat(live()).as("%s, after one that was made", KINDS).isEqualTo(before);
        }
    }
}
