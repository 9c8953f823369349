// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.backend.hip.fakes.HipDouble;
import io.penstock.engine.testing.BackendFixture;
import io.penstock.engine.testing.SampleProgram;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/** Programs of {@code samples/programs} that name no vendor, on the double. */
class SampleTest {

    private static final int BYTES = 3 << 20;

    @BeforeEach
    void fresh() {
        HipDouble.require();
        HipDouble.reset();
        HipDouble.files().set("nvfs", 1);
    }

    @AfterEach
    void nothingIsLeft() {
        HipLeft.assertNothing();
        HipDouble.reset();
    }

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "STAGED", "SYNC"})
    void aFileIsCopiedThroughTheGpuBehindAFenceAndExplained(HipPath path, @TempDir Path folder) throws Exception {
        Path source = Files.write(folder.resolve("source"), BackendFixture.random(BYTES, 1));
        Path copy = folder.resolve("copy");
        try (Backend backend = HipSubject.onNvme(HipSubject.options(path))) {
            SampleProgram copies = SampleProgram.of("CopyBehindFence", folder, HipStream.class);
            Mono<?> copied = (Mono<?>) copies.call("copy", backend, source, copy);
            assertThat(copied.block(BackendFixture.LONG)).isEqualTo((long) BYTES);
            SampleProgram explains = SampleProgram.of("ExplainRead", folder, HipStream.class);
            Mono<?> explained = (Mono<?>) explains.call("explain", backend, source);
            assertThat((String) explained.block(BackendFixture.LONG)).isNotEmpty();
        }
        assertThat(copy).hasSameBinaryContentAs(source);
    }
}
