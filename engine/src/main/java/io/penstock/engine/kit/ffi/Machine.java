// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import java.util.Locale;

/** The machine that this process runs on, determined without a native call: usable before any library is loaded. */
public final class Machine {
    public static final boolean IS_LINUX = property("os.name").startsWith("linux");
    static final boolean IS_X86_64 =
            architecture().equals("amd64") || architecture().equals("x86_64");
    static final boolean IS_AARCH64 = architecture().equals("aarch64");
    // System call numbers and the layout of an SQE are known for these; all are little-endian, 64 bits wide.
    private static final boolean IS_KNOWN =
            IS_X86_64 || IS_AARCH64 || architecture().equals("riscv64");

    private Machine() {}

    /** Returns whether {@link LibC} may be used here. */
    public static boolean isSupported() {
        return IS_LINUX && IS_KNOWN;
    }

    /** Returns the JVM's name of the processor architecture, in lower case. */
    public static String architecture() {
        return property("os.arch");
    }

    /** Returns the JVM's name of the operating system, in lower case. */
    public static String operatingSystem() {
        return property("os.name");
    }

    private static String property(String name) {
        return System.getProperty(name, "unknown").toLowerCase(Locale.ROOT);
    }
}
