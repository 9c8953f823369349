// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import com.sun.jna.Callback;
import com.sun.jna.CallbackReference;
import com.sun.jna.FunctionMapper;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.SymbolProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;

/**
 * A vendor library behind the native methods of one class, loaded once per process: the first file wins.
 *
 * <p>Its symbols are looked up one by one. A method whose symbol is absent can still be called, and returns a fixed
 * value, so that an old driver becomes a reason and not an {@link UnsatisfiedLinkError}.
 *
 * <p>Thread-safe.
 */
public final class VendorLibrary {

    /**
     * RTLD_LAZY without RTLD_GLOBAL: the vendor's exports must not interfere with other libraries. On Windows the same
     * number would mean not to resolve the library's own imports; -1 is JNA's default there.
     */
    private static final int OPEN_FLAGS = Machine.operatingSystem().startsWith("windows") ? -1 : 1;

    /** Stands in for an absent function: it takes no arguments, and by the C calling convention may receive any. */
    interface AbsentFunction extends Callback {
        long call();
    }

    private final Class<?> functions;
    private final String soname;
    private final List<String> folders;
    private final ToLongFunction<String> unexported;
    private final AbsentFunction absentFunction; // strongly referenced: JNA does not do so
    private final Set<String> absent = new TreeSet<>();
    private String loaded = "";
    private UnaryOperator<String> symbols = name -> name;

    /**
     * Describes a library.
     *
     * @param functions the class of its native methods
     * @param soname its name for the system's loader
     * @param folders where else to search
     * @param absentAnswer what absent functions return
     */
    public VendorLibrary(Class<?> functions, String soname, List<String> folders, long absentAnswer) {
        this(functions, soname, folders, absentAnswer, name -> 0);
    }

    /**
     * Describes a library that provides some of its functions through a call of its own.
     *
     * @param unexported returns the address of a function that the library does not export, or 0 if it has none
     */
    public VendorLibrary(
            Class<?> functions,
            String soname,
            List<String> folders,
            long absentAnswer,
            ToLongFunction<String> unexported) {
        this.functions = functions;
        this.soname = soname;
        this.folders = folders;
        this.unexported = unexported;
        this.absentFunction = () -> absentAnswer;
    }

    /**
     * Sets how symbols follow from the names of methods, before it is loaded; without this they are the same.
     *
     * @return this library
     */
    public synchronized VendorLibrary symbols(UnaryOperator<String> byMethod) {
        symbols = byMethod;
        return this;
    }

    /**
     * Loads the library, unless it is loaded.
     *
     * @param file the file, or an empty string for the soname and the usual folders
     * @return why it could not be loaded, or an empty string
     */
    public synchronized String load(String file) {
        List<String> candidates = candidates(file);
        if (!loaded.isEmpty()) {
            return file.isEmpty() || isSame(file, loaded)
                    ? ""
                    : "this process has already loaded " + loaded + ", and cannot load " + file + " as well";
        }
        NativeAccess refusal = NativeAccess.refusal();
        if (refusal != null) {
            return refusal.toString();
        }
        List<String> reasons = new ArrayList<>();
        for (String candidate : candidates) {
            try {
                register(candidate);
                loaded = candidate;
                return "";
            } catch (LinkageError e) {
                reasons.add(firstReason(e));
            }
        }
        return reasons.get(0);
    }

    private List<String> candidates(String file) {
        if (!file.isEmpty()) {
            return List.of(file);
        }
        List<String> candidates = new ArrayList<>(List.of(soname));
        for (String folder : folders) {
            Path candidate = Path.of(folder, soname);
            if (Files.exists(candidate)) {
                candidates.add(candidate.toString());
            }
        }
        return candidates;
    }

    private void register(String file) {
        SymbolProvider oneByOne = this::address;
        FunctionMapper names = (library, method) -> symbols.apply(method.getName());
        NativeLibrary library = NativeLibrary.getInstance(
                file,
                Map.of(
                        Library.OPTION_SYMBOL_PROVIDER, oneByOne,
                        Library.OPTION_FUNCTION_MAPPER, names,
                        Library.OPTION_OPEN_FLAGS, OPEN_FLAGS));
        absent.clear();
        Native.register(functions, library);
    }

    private long address(long handle, String symbol, SymbolProvider system) {
        try {
            return system.getSymbolAddress(handle, symbol, system);
        } catch (UnsatisfiedLinkError missing) {
            long address = unexported.applyAsLong(symbol);
            if (address != 0) {
                return address;
            }
            absent.add(symbol);
            return Pointer.nativeValue(CallbackReference.getFunctionPointer(absentFunction));
        }
    }

    private static boolean isSame(String one, String other) {
        try {
            return one.equals(other) || Files.isSameFile(Path.of(one), Path.of(other));
        } catch (IOException e) {
            return false;
        }
    }

    /** JNA lists every place that it has searched, a line each; the first is the most informative. */
    private static String firstReason(LinkageError e) {
        List<String> lines = String.valueOf(e.getMessage()).lines().toList();
        return (lines.size() > 1 ? lines.get(1) : String.join("", lines)).strip();
    }

    /** Returns the functions that the library does not have; empty unless it is loaded. */
    public synchronized Set<String> absent() {
        return Set.copyOf(absent);
    }

    /** Returns the file that it was loaded from; empty if it is not loaded. */
    public synchronized String file() {
        return loaded;
    }
}
