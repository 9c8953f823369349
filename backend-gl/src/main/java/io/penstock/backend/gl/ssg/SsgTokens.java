// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ssg;

import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.gl.options.GlOptions;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The constants of AMD's extension that were never published and so must be configured: there are no defaults.
 *
 * @param library the library with the functions; empty to query EGL, and the context for the extension
 * @param extension its name
 * @param blockSize GL_FILE_BLOCK_SIZE_AMD
 * @param fileSize GL_FILE_SIZE_AMD
 * @param handleBits of a GLfilehandleAMD
 * @param missing why it cannot be used; empty if nothing is missing
 */
public record SsgTokens(String library, String extension, int blockSize, int fileSize, int handleBits, String missing) {

    /** Reads the options. */
    public static SsgTokens of(Options options) {
        String library = options.get(GlOptions.SSG_LIBRARY);
        String extension = options.get(GlOptions.SSG_EXTENSION);
        boolean named = !library.isEmpty() || !extension.isEmpty();
        List<Option<String>> numbers =
                List.of(GlOptions.SSG_BLOCK_SIZE_TOKEN, GlOptions.SSG_FILE_SIZE_TOKEN, GlOptions.SSG_HANDLE_BITS);
        String unsaid = numbers.stream()
                .filter(option -> options.get(option).isEmpty())
                .map(Option::name)
                .collect(Collectors.joining(", "));
        if (!named || !unsaid.isEmpty()) {
            String first = named ? "" : GlOptions.SSG_EXTENSION + " (or " + GlOptions.SSG_LIBRARY + ")";
            String all = first.isEmpty() || unsaid.isEmpty() ? first + unsaid : first + ", " + unsaid;
            return new SsgTokens(
                    library, extension, 0, 0, 0, "AMD did not publish the values for " + all + ": set these options");
        }
        return new SsgTokens(
                library,
                extension,
                number(options, GlOptions.SSG_BLOCK_SIZE_TOKEN),
                number(options, GlOptions.SSG_FILE_SIZE_TOKEN),
                bits(options),
                "");
    }

    private static int number(Options options, Option<String> option) {
        try {
            return Integer.decode(options.get(option));
        } catch (NumberFormatException e) {
            throw refused(options, option, "the number of a GLenum, such as 0x9160");
        }
    }

    private static int bits(Options options) {
        return switch (options.get(GlOptions.SSG_HANDLE_BITS)) {
            case "32" -> Integer.SIZE;
            case "64" -> Long.SIZE;
            default -> throw refused(options, GlOptions.SSG_HANDLE_BITS, "32 or 64");
        };
    }

    private static IllegalArgumentException refused(Options options, Option<String> option, String takes) {
        return new IllegalArgumentException(
                options.source(option) + " sets " + option + "=" + options.get(option) + ", but it must be " + takes);
    }

    /** Returns a handle truncated to its width; the register may hold more bits. */
    long handle(long answer) {
        return handleBits == Integer.SIZE ? Integer.toUnsignedLong((int) answer) : answer;
    }
}
