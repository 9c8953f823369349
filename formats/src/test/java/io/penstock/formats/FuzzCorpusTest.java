// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What fuzzing has found of a format: inputs that cover all of a reader that fuzzing has covered, and inputs that once
 * failed.
 */
@Tag("once")
class FuzzCorpusTest {

    private static final int LEAST_INPUTS = 30; // of a format

    @TempDir
    Path folder;

    static List<String> formats() {
        return FuzzTarget.FORMATS;
    }

    @ParameterizedTest
    @MethodSource("formats")
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void anyInputIsReadOrRefused(String format) throws IOException {
        int inputs = 0;
        try (Backend backend = Backends.open("host");
                ZipFile corpus =
                        new ZipFile(Real.file("../fuzz/" + format + ".zip").toFile())) {
            FuzzTarget target = FuzzTarget.of(format, folder, backend);
            for (ZipEntry entry : corpus.stream().map(ZipEntry.class::cast).toList()) {
                byte[] input = corpus.getInputStream(entry).readAllBytes();
                try {
                    target.run(input);
                } catch (RuntimeException | Error e) {
                    fail(entry.getName(), e);
                }
                inputs++;
            }
        }
        assertThat(inputs).isGreaterThan(LEAST_INPUTS);
    }
}
