// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The tests that a page of the docs names, as {@code `SomeTest#someMethod`}. */
public final class PageTests {

    public static final Pattern NAMED = Pattern.compile("`(\\w+Test)#(\\w+)`");

    private PageTests() {}

    /**
     * Checks that all exist, and that they are more than 30.
     *
     * @param packageName where they are, or in its {@code ffi}
     */
    public static void assertExist(String page, String packageName) {
        List<MatchResult> named = NAMED.matcher(page).results().toList();
        assertThat(named).hasSizeGreaterThan(30);
        for (MatchResult test : named) {
            assertThat(Arrays.stream(type(packageName, test.group(1)).getDeclaredMethods())
                            .map(Method::getName))
                    .as(test.group())
                    .contains(test.group(2));
        }
    }

    private static Class<?> type(String packageName, String name) {
        try {
            return Class.forName(packageName + "." + name);
        } catch (ClassNotFoundException e) {
            try {
                return Class.forName(packageName + ".ffi." + name);
            } catch (ClassNotFoundException none) {
                throw new AssertionError("there is no " + name, none);
            }
        }
    }
}
