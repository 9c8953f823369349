// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx.ffi;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.engine.testing.CompiledFakes;
import io.penstock.tck.Require;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Numbers, names and layouts, held against UCX's headers by a C compiler. */
class UcxHeadersTest {

    private static final Path HEADER = Path.of("/usr/include/ucp/api/ucp.h");

    /** Prefix of our constants, and structure in C. */
    private static final List<String[]> STRUCTURES = List.of(
            new String[] {"EP_PARAMS", "ucp_ep_params_t"},
            new String[] {"AM_HANDLER", "ucp_am_handler_param_t"},
            new String[] {"REQUEST_PARAM", "ucp_request_param_t"},
            new String[] {"WORKER_PARAMS", "ucp_worker_params_t"},
            new String[] {"MEM_MAP_PARAMS", "ucp_mem_map_params_t"},
            new String[] {"CONTEXT_ATTR", "ucp_context_attr_t"},
            new String[] {"PARAMS", "ucp_params_t"});

    @TempDir
    Path folder;

    @BeforeEach
    void needsHeaders() {
        String unavailable = CompiledFakes.unavailable();
        Require.backend("ucx", unavailable == null && !Files.exists(HEADER) ? "no UCX headers" : unavailable);
    }

    private List<String> run(List<String> statements) throws IOException {
        return CompiledFakes.printed(folder, "#include <ucp/api/ucp.h>", statements);
    }

    private static String inC(String name) {
        if (name.startsWith("UCP_") || name.startsWith("UCS_")) {
            return name;
        }
        for (String[] structure : STRUCTURES) {
            if (name.equals(structure[0] + "_BYTES")) {
                return "sizeof(" + structure[1] + ")";
            }
            if (name.startsWith(structure[0] + "_") && name.endsWith("_OFFSET")) {
                String field = name.substring(structure[0].length() + 1, name.length() - "_OFFSET".length());
                return "offsetof(" + structure[1] + ", " + field.toLowerCase(java.util.Locale.ROOT) + ")";
            }
        }
        return "";
    }

    @Test
    void everyConstantHasTheValueOfTheHeader() throws IOException, IllegalAccessException {
        List<String> statements = new ArrayList<>();
        List<String> ours = new ArrayList<>();
        for (Field field : Ucp.class.getFields()) {
            String expression = inC(field.getName());
            if (!expression.isEmpty()) {
                statements.add(
                        "printf(\"%s %lld\\n\", \"" + field.getName() + "\", (long long) (" + expression + "));");
                ours.add(field.getName() + " " + ((Number) field.get(null)).longValue());
            }
        }
        assertThat(ours).hasSizeGreaterThan(25);
        assertThat(run(statements)).containsExactlyElementsOf(ours);
    }

    @Test
    void everyStatusHasTheNameOfTheHeader() throws IOException {
        List<String> statements = new ArrayList<>();
        List<String> ours = new ArrayList<>();
        for (int status = UcsStatus.LAST; status < 0; status++) {
            String symbol = UcsStatus.symbol(status);
            if (!symbol.isEmpty()) {
                statements.add("printf(\"%s %d\\n\", \"" + symbol + "\", (int) " + symbol + ");");
                ours.add(symbol + " " + status);
            }
        }
        assertThat(ours).hasSizeGreaterThan(25);
        assertThat(run(statements)).containsExactlyElementsOf(ours);
        assertThat(run(List.of("printf(\"%d %d %d\\n\", UCS_OK, UCS_INPROGRESS, UCS_ERR_LAST);")))
                .containsExactly(UcsStatus.OK + " " + UcsStatus.INPROGRESS + " " + UcsStatus.LAST);
    }
}
