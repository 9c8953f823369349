// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.backend.cufile.fakes.Application;
import io.penstock.backend.cufile.fakes.Fakes;
import io.penstock.backend.cufile.fakes.FreshFakes;
import io.penstock.backend.gpu.context.GpuStream;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.engine.testing.SampleProgram;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** The program InCudaStream of {@code samples/programs}, on the fake. */
@ExtendWith(FreshFakes.class)
class SampleTest {

    private static final int BYTES = 20 << 20; // three chunks

    @ParameterizedTest
    @EnumSource(names = {"STAGED", "MAPPED"})
    void kernelsRunOverAFileAndTheProgramEndsBehindTheLast(CufilePath path, @TempDir Path folder) throws Exception {
        SampleProgram program = SampleProgram.of("InCudaStream", folder, CudaStream.class, GpuStream.class);
        byte[] bytes = BackendFixture.random(BYTES, 1);
        GpuFixture gpu = new GpuFixture(folder);
        try (Application application = new Application(0)) {
            Backend backend = gpu.backend(path);
            DeviceBuffer copy = gpu.buffer(backend, BYTES);
            long[] to = {copy.nativeHandle()};
            Object kernel = program.implementing("Kernel", (self, launch, arguments) -> {
                application.copyLate(to[0], (long) arguments[1], (long) arguments[2]);
                to[0] += (long) arguments[2];
                return null;
            });
            Mono<?> run = (Mono<?>) program.call("run", backend, gpu.file("data", bytes), application.stream(), kernel);
            CompletableFuture<?> end = run.toFuture();
            assertThat(end).as("kernels run").isNotDone();
            application.letKernelsEnd();
            end.join();
            assertThat(BackendFixture.content(copy)).isEqualTo(bytes);
        } finally {
            gpu.close();
        }
        assertThat(Fakes.cuda().live("allocations")).isZero();
    }
}
