// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.doubles;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.testing.CompiledDoubles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A double that races or writes where it should not would be a bad witness. */
class DoublesUnderSanitizersTest {

    @TempDir
    Path folder;

    @BeforeEach
    void compilerIsThere() {
        Doubles.require();
    }

    @ParameterizedTest
    @ValueSource(strings = {"address,undefined", "thread"})
    void fourThreadsUseBothDoublesCleanly(String sanitizer) throws IOException {
        Path program = DoublesBuild.program("stress", sanitizer);
        assertThat(CompiledDoubles.run(List.of(program.toString(), folder.toString())))
                .isEmpty();
    }
}
