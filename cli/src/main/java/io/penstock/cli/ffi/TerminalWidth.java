// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.ffi;

import io.penstock.engine.spi.ffi.LibC;
import io.penstock.engine.spi.ffi.Machine;
import io.penstock.engine.spi.ffi.NativeAccess;
import io.penstock.engine.spi.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** How wide a terminal is at the moment. Shells know it too, but {@code COLUMNS} is exported by few. */
public final class TerminalWidth {

    private static final long TIOCGWINSZ = 0x5413; // of x86-64 and AArch64
    private static final int WINSIZE_BYTES = 8; // rows, columns, and two that nobody uses, of 16 bits
    private static final int COLUMNS_AT = 2;
    private static final int MASK = 0xffff;

    private TerminalWidth() {}

    /** Returns the columns of the terminal that a descriptor refers to; 0 if it is none, or it cannot be asked. */
    public static int of(int fd) {
        if (!Machine.isSupported() || NativeAccess.refusal() != null) {
            return 0;
        }
        ByteBuffer size = ByteBuffer.allocateDirect(WINSIZE_BYTES).order(ByteOrder.nativeOrder());
        boolean known = LibC.orErrno(LibC.ioctl(fd, TIOCGWINSZ, NativeMemory.address(size))) == 0;
        return known ? size.getShort(COLUMNS_AT) & MASK : 0;
    }
}
