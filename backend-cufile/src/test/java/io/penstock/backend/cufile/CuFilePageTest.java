// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.engine.testing.PageTests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Holds docs/vendors/cufile.md to its word: the tests that it names exist. */
class CuFilePageTest {

    @Test
    void everyTestThatThePageNamesExists() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "vendors", "cufile.md"));
        PageTests.assertExist(page, getClass().getPackageName());
    }
}
