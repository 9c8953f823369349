// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Option;
import io.penstock.Options;
import java.util.ArrayList;
import java.util.List;

/**
 * What AMD's manual does not print of its interface, as the user says it.
 *
 * @param interfaceId {@code AmdDxExtSsgID}
 * @param readAccess {@code AmdDxSsgFile_Read}
 * @param writeAccess its sibling for writing
 * @param layout of the structures
 */
record SsgTerms(int interfaceId, int readAccess, int writeAccess, SsgLayout layout) {

    private static final List<Option<String>> NEEDED = List.of(
            Dx11Options.SSG_INTERFACE,
            Dx11Options.SSG_READ_ACCESS,
            Dx11Options.SSG_WRITE_ACCESS,
            Dx11Options.SSG_LAYOUT);

    /** Returns which options have nothing to say, so that the interface cannot be used; none where it can. */
    static List<Option<String>> missing(Options options) {
        List<Option<String>> missing = new ArrayList<>();
        for (Option<String> option : NEEDED) {
            if (options.get(option).isBlank()) {
                missing.add(option);
            }
        }
        return missing;
    }

    /**
     * Reads them; none is missing.
     *
     * @throws IllegalArgumentException naming the option that is not as it should be
     */
    static SsgTerms of(Options options) {
        return new SsgTerms(
                number(options, Dx11Options.SSG_INTERFACE),
                number(options, Dx11Options.SSG_READ_ACCESS),
                number(options, Dx11Options.SSG_WRITE_ACCESS),
                layout(options));
    }

    private static int number(Options options, Option<String> option) {
        try {
            long number = Long.decode(options.get(option).strip());
            if (number >>> Integer.SIZE == 0) {
                return (int) number;
            }
        } catch (NumberFormatException e) {
            // told below
        }
        throw wrong(options, option, "it takes a number of 32 bits");
    }

    private static SsgLayout layout(Options options) {
        try {
            return SsgLayout.parse(options.get(Dx11Options.SSG_LAYOUT));
        } catch (IllegalArgumentException e) {
            throw wrong(options, Dx11Options.SSG_LAYOUT, String.valueOf(e.getMessage()));
        }
    }

    private static IllegalArgumentException wrong(Options options, Option<String> option, String why) {
        return new IllegalArgumentException(
                options.source(option) + " says " + option + "=" + options.get(option) + ", but " + why);
    }
}
