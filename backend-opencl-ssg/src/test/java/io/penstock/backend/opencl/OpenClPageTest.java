// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.opencl.ffi.OpenClError;
import io.penstock.engine.testing.PageTests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Holds docs/vendors/opencl-ssg.md to its word: its tests exist, and no row of the manual is missing. */
class OpenClPageTest {

    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `(cl\\w+AMD)` \\| (?:`(CL_\\w+)`|its event: `(CL_\\w+)`).*$");

    private static final List<String> COMMANDS = List.of("clEnqueueReadSsgFileAMD", "clEnqueueWriteSsgFileAMD");
    private static final List<String> OF_FILES = List.of(
            "clCreateSsgFileObjectAMD",
            "clGetSsgFileObjectInfoAMD",
            "clRetainSsgFileObjectAMD",
            "clReleaseSsgFileObjectAMD");

    /** The rows of the return-value tables of chapter 3, other than CL_SUCCESS. */
    private static final List<String> OF_COMMANDS = List.of(
            "CL_INVALID_FILE_OBJECT_AMD",
            "CL_INVALID_COMMAND_QUEUE",
            "CL_INVALID_CONTEXT",
            "CL_INVALID_MEM_OBJECT",
            "CL_INVALID_VALUE",
            "CL_INVALID_EVENT_WAIT_LIST",
            "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
            "CL_MEM_OBJECT_ALLOCATION_FAILURE");

    private static String page() throws IOException {
        return Files.readString(Path.of("..", "docs", "vendors", "opencl-ssg.md"));
    }

    @Test
    void everyTestThatThePageNamesExists() throws IOException {
        PageTests.assertExist(page(), getClass().getPackageName());
    }

    @Test
    void everyRowOfTheManualIsThereWithItsTest() throws IOException {
        Set<String> expected = new TreeSet<>();
        OF_FILES.forEach(function -> expected.add(function + " CL_INVALID_FILE_OBJECT_AMD"));
        COMMANDS.forEach(function -> OF_COMMANDS.forEach(error -> expected.add(function + " " + error)));
        Set<String> found = new TreeSet<>();
        ROW.matcher(page()).results().forEach(row -> {
            String error = row.group(2) == null ? row.group(3) : row.group(2);
            found.add(row.group(1) + " " + error);
            assertThat(row.group()).as("a row without its test").containsPattern(PageTests.NAMED);
        });
        assertThat(found).containsAll(expected);
    }

    @Test
    void everyErrorOnThePageIsOneThatOpenClHas() throws IOException {
        Set<String> known = new TreeSet<>();
        for (int code = -1200; code <= OpenClError.INVALID_FILE_OBJECT_AMD; code++) {
            known.add(OpenClError.symbol(code));
        }
        ROW.matcher(page())
                .results()
                .forEach(row -> assertThat(known).contains(row.group(2) == null ? row.group(3) : row.group(2)));
    }
}
