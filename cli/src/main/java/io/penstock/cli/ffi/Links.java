// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;

/** {@code linkat(2)}; separate, so that it is resolved only on Linux. */
final class Links {

    static final int AT_FDCWD = -100;
    static final int AT_SYMLINK_FOLLOW = 0x400;

    static {
        Native.register(Links.class, NativeLibrary.getProcess());
    }

    private Links() {}

    /** Both names end with a zero byte; leaves {@code errno}. */
    static native int linkat(int oldFolder, byte[] oldName, int newFolder, byte[] newName, int flags);
}
