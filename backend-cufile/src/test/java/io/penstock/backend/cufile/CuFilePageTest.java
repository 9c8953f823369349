// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Holds docs/cufile.md to its word: the tests that it names exist. */
class CuFilePageTest {

    private static final Pattern NAMED = Pattern.compile("`(\\w+Test)#(\\w+)`");

    @Test
    void everyTestThatThePageNamesExists() throws IOException, ClassNotFoundException {
        String page = Files.readString(Path.of("..", "docs", "cufile.md"));
        List<MatchResult> named = NAMED.matcher(page).results().toList();
        assertThat(named).hasSizeGreaterThan(30);
        for (MatchResult test : named) {
            String inside = test.group(1).equals("CuFileBindingTest") ? ".ffi." : ".";
            Class<?> type = Class.forName(getClass().getPackageName() + inside + test.group(1));
            assertThat(Arrays.stream(type.getDeclaredMethods()).map(Method::getName))
                    .as(test.group())
                    .contains(test.group(2));
        }
    }
}
