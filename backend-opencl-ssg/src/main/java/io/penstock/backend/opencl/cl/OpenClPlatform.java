// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.cl;

import io.penstock.backend.opencl.ffi.OpenCl;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A vendor's OpenCL platform.
 *
 * @param handle the cl_platform_id
 * @param name the vendor's name for it
 * @param description its version, as the vendor writes it
 * @param extensions the extensions of the platform
 */
public record OpenClPlatform(long handle, String name, String description, Set<String> extensions) {

    private static final Pattern VERSION = Pattern.compile("OpenCL (\\d+)\\.(\\d+).*");

    /**
     * Queries the vendor's library.
     *
     * @throws io.penstock.PenstockException with its answer
     */
    public static OpenClPlatform of(long handle) {
        Info info = Info.platform(handle);
        return new OpenClPlatform(
                handle,
                info.text(OpenCl.CL_PLATFORM_NAME),
                info.text(OpenCl.CL_PLATFORM_VERSION),
                Set.copyOf(List.of(info.text(OpenCl.CL_PLATFORM_EXTENSIONS).split("\\s+"))));
    }

    /** Returns 300 for {@code OpenCL 3.0 and more}, 0 if the text is not a version. */
    public static int version(String text) {
        Matcher matcher = VERSION.matcher(text);
        return matcher.matches()
                ? 100 * Integer.parseInt(matcher.group(1)) + 10 * Integer.parseInt(matcher.group(2))
                : 0;
    }

    @Override
    public String toString() {
        return name + ", " + description;
    }
}
