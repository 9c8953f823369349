// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.context;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The folder of compiled kernels without which PoCL has no device, and reports {@code CL_DEVICE_NOT_FOUND}
 * (pocl_cache_init_topdir in pocl_cache.c).
 *
 * @param folder where PoCL creates it
 */
record PoclCache(Path folder) {

    /** The name of PoCL's platform. */
    static final String PLATFORM = "Portable Computing Language";

    static final String REMEDY = "set POCL_CACHE_DIR, XDG_CACHE_HOME or HOME to a folder that this user may write";

    static PoclCache of(Map<String, String> environment) {
        String given = environment.get("POCL_CACHE_DIR");
        if (given != null) {
            return new PoclCache(Path.of(given));
        }
        String caches = environment.get("XDG_CACHE_HOME");
        String home = environment.get("HOME");
        Path parent = caches != null ? Path.of(caches) : home != null ? Path.of(home, ".cache") : Path.of("/tmp");
        return new PoclCache(parent.resolve("pocl").resolve("kcache"));
    }

    /** Returns true if PoCL can neither use nor create the folder. */
    boolean isRefused() {
        Path existing = folder.toAbsolutePath();
        while (Files.notExists(existing)) {
            @Nullable Path parent = existing.getParent();
            if (parent == null) {
                return true;
            }
            existing = parent;
        }
        try { // permissions do not tell all: a file system may be read-only, or have no folders of users, as /proc
            Files.delete(Files.createTempDirectory(existing, ".penstock"));
            return false;
        } catch (IOException refused) {
            return true;
        }
    }
}
