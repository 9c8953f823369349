// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.ffi;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.SymbolProvider;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The functions of an extension behind the native methods of one class. They are not in the loader's table, so each is
 * looked up with {@code clGetExtensionFunctionAddressForPlatform}, and then called like any other, without allocation.
 *
 * <p>A process has one set of them: a second platform can use them only if it returns the same addresses.
 *
 * <p>Thread-safe.
 */
final class ExtensionFunctions {

    private final Class<?> functions;
    private final Map<String, List<String>> names;
    private Map<String, Long> loaded = Map.of();

    /**
     * Describes the functions.
     *
     * @param functions the class of the native methods
     * @param names for each method, the vendors' names of its function
     */
    ExtensionFunctions(Class<?> functions, Map<String, List<String>> names) {
        this.functions = functions;
        this.names = names;
    }

    /** Describes functions that have one name each. */
    static ExtensionFunctions named(Class<?> functions, String... names) {
        Map<String, List<String>> all = new LinkedHashMap<>();
        for (String name : names) {
            all.put(name, List.of(name));
        }
        return new ExtensionFunctions(functions, all);
    }

    /**
     * Looks the functions up on a platform, unless that has been done.
     *
     * @return why the platform does not have them, or an empty string
     */
    synchronized String load(long platform) {
        Map<String, Long> found = new LinkedHashMap<>();
        for (Map.Entry<String, List<String>> function : names.entrySet()) {
            long address = address(platform, function.getValue());
            if (address == 0) {
                return "the platform has no " + String.join(", nor ", function.getValue());
            }
            found.put(function.getKey(), address);
        }
        if (!loaded.isEmpty()) {
            return loaded.equals(found) ? "" : "this process has already loaded these functions of another platform";
        }
        SymbolProvider provider = (handle, symbol, parent) -> found.getOrDefault(symbol, 0L);
        Native.register(
                functions,
                NativeLibrary.getInstance(OpenCl.LIBRARY.file(), Map.of(Library.OPTION_SYMBOL_PROVIDER, provider)));
        loaded = found;
        return "";
    }

    private static long address(long platform, List<String> names) {
        for (String name : names) {
            long address = OpenCl.clGetExtensionFunctionAddressForPlatform(platform, name);
            if (address != 0) {
                return address;
            }
        }
        return 0;
    }
}
