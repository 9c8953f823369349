// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.testing.CompiledFakes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A fake that races or writes where it should not would be a bad witness. */
@Tag("slow")
class FakesUnderSanitizersTest {

    @TempDir
    Path folder;

    @BeforeEach
    void compilerIsThere() {
        Fakes.require();
    }

    @ParameterizedTest
    @ValueSource(strings = {"address,undefined", "thread"})
    void fourThreadsUseBothFakesCleanly(String sanitizer) throws IOException {
        Path program = FakesBuild.program("stress", sanitizer);
        assertThat(CompiledFakes.run(List.of(program.toString(), folder.toString())))
                .isEmpty();
    }
}
