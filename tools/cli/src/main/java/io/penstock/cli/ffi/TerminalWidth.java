// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.ffi;

import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.kit.ffi.NativeMemory;
import java.io.Console;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/** How wide a terminal is at the moment. Shells know it too, but {@code COLUMNS} is exported by few. */
public final class TerminalWidth {

    private static final long TIOCGWINSZ = 0x5413; // of x86-64 and AArch64
    private static final int WINSIZE_BYTES = 8; // rows, columns, and two that nobody uses, of 16 bits
    private static final int COLUMNS_AT = 2;
    private static final int MASK = 0xffff;

    private TerminalWidth() {}

    /**
     * Returns the columns of the terminal that a descriptor refers to; 0 if they are not known, -1 if it is no
     * terminal. Without native calls, a console of the process counts as a terminal.
     */
    public static int of(int fd) {
        if (!Machine.isSupported() || NativeAccess.refusal() != null) {
            return isTerminal(System.console()) ? 0 : -1;
        }
        ByteBuffer size = ByteBuffer.allocateDirect(WINSIZE_BYTES).order(ByteOrder.nativeOrder());
        boolean terminal = LibC.orErrno(LibC.ioctl(fd, TIOCGWINSZ, NativeMemory.address(size))) == 0;
        return terminal ? size.getShort(COLUMNS_AT) & MASK : -1;
    }

    /** From JDK 22 on a console may exist without a terminal, and has a method to query that. */
    private static boolean isTerminal(@Nullable Console console) {
        try {
            return console != null
                    && (Boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (NoSuchMethodException e) {
            return true;
        } catch (ReflectiveOperationException e) {
            return false;
        }
    }
}
