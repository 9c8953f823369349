// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

/** Identity of a file: equal for two handles to the same file. */
record FileIdentity(long device, long inode) {

    private static final long LOW = 0xffffffffL;

    /** Returns what the JDK's own key of this file returns, so that one can be compared with the other. */
    @Override
    public String toString() {
        long major = device >>> 32;
        long minor = device & LOW;
        long number =
                (major & ~0xfffL) << 32 | (major & 0xfff) << 8 | (minor & ~0xffL) << 12 | minor & 0xff; // of glibc
        return "(dev=" + Long.toHexString(number) + ",ino=" + inode + ')';
    }
}
