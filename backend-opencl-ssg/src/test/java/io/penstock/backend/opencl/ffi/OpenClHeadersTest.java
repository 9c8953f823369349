// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.testing.CompiledFakes;
import io.penstock.tck.Require;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Numbers and names, held against the vendor's headers by a C compiler. */
class OpenClHeadersTest {

    private static final Path HEADER = Path.of("/usr/include/CL/cl_ext.h");

    @TempDir
    Path folder;

    @BeforeEach
    void needsHeaders() {
        String unavailable = CompiledFakes.unavailable();
        Require.backend("opencl", unavailable == null && !Files.exists(HEADER) ? "no OpenCL headers" : unavailable);
    }

    private List<String> run(List<String> statements) throws IOException {
        String version = "#define CL_TARGET_OPENCL_VERSION 300\n";
        return CompiledFakes.printed(
                folder, version + "#include <CL/cl.h>\n#include <CL/cl_ext.h>\n#include <CL/cl_gl.h>", statements);
    }

    @Test
    void everyConstantHasTheValueOfTheHeader() throws IOException, IllegalAccessException {
        List<String> statements = new ArrayList<>();
        List<String> ours = new ArrayList<>();
        for (Field field : OpenCl.class.getFields()) {
            if (Modifier.isStatic(field.getModifiers()) && field.getName().startsWith("CL_")) {
                statements.add(
                        "printf(\"%s %lld\\n\", \"" + field.getName() + "\", (long long) (" + field.getName() + "));");
                ours.add(field.getName() + " " + ((Number) field.get(null)).longValue());
            }
        }
        assertThat(ours).hasSizeGreaterThan(40);
        assertThat(run(statements)).containsExactlyElementsOf(ours);
    }

    @Test
    void everyErrorCodeHasTheNameOfTheHeader() throws IOException {
        List<String> statements = new ArrayList<>();
        List<String> ours = new ArrayList<>();
        for (int code = -2000; code <= 0; code++) {
            String symbol = OpenClError.symbol(code);
            if (!symbol.isEmpty()) {
                statements.add("printf(\"%s %d\\n\", \"" + symbol + "\", (int) " + symbol + ");");
                ours.add(symbol + " " + code);
            }
        }
        assertThat(ours).hasSizeGreaterThan(65);
        assertThat(run(statements)).containsExactlyElementsOf(ours);
        assertThat(OpenClError.symbol(OpenClError.INVALID_FILE_OBJECT_AMD)).isEqualTo("CL_INVALID_FILE_OBJECT_AMD");
        assertThat(OpenClError.symbol(-1234)).isEmpty();
    }
}
