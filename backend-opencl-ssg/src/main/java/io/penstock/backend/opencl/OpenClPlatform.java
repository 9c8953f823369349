// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.backend.opencl.ffi.OpenCl;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A vendor's OpenCL.
 *
 * @param handle the cl_platform_id
 * @param name the vendor's
 * @param description its version, in the vendor's words
 * @param extensions of the platform
 */
record OpenClPlatform(long handle, String name, String description, Set<String> extensions) {

    private static final Pattern VERSION = Pattern.compile("OpenCL (\\d+)\\.(\\d+).*");

    /**
     * Asks the vendor's library.
     *
     * @throws io.penstock.PenstockException with its answer
     */
    static OpenClPlatform of(long handle) {
        Info info = new Info(
                "an OpenCL platform",
                "clGetPlatformInfo",
                (name, bytes, value, length) -> OpenCl.clGetPlatformInfo(handle, name, bytes, value, length));
        return new OpenClPlatform(
                handle,
                info.text(OpenCl.CL_PLATFORM_NAME),
                info.text(OpenCl.CL_PLATFORM_VERSION),
                Set.copyOf(List.of(info.text(OpenCl.CL_PLATFORM_EXTENSIONS).split("\\s+"))));
    }

    /** Returns 300 for {@code OpenCL 3.0 and more}, 0 for what is no version. */
    static int version(String text) {
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
