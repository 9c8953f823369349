// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ffi;

import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.kit.ffi.PathName;
import io.penstock.engine.kit.ffi.UnnamedFile;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.file.NativeFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Unnamed files, ACLs and extended attributes of Linux. */
public final class LinuxAttributes implements NativeFiles {

    private static final String ACL = "system.posix_acl_access";

    /** They vouch for the content, which is another one. */
    private static final Set<String> OF_CONTENT = Set.of("security.capability", "security.ima", "security.evm");

    @Override
    public Optional<Unnamed> unnamed(Path folder, int mode) {
        return UnnamedFile.in(folder, mode).map(ServedUnnamed::new);
    }

    @Override
    public void copyAttributes(Path from, Path to) throws IOException {
        if (from.getFileSystem() != FileSystems.getDefault()
                || !Machine.isSupported()
                || NativeAccess.refusal() != null) {
            return;
        }
        byte[] target = PathName.of(to);
        List<String> refused = new ArrayList<>();
        List<String> names = names(from);
        if (!names.contains(ACL) && names(to).contains(ACL)) { // of the folder's default ACL
            check(Calls.removexattr(target, name(ACL)), ACL, refused);
        }
        for (String name : names) {
            if (!OF_CONTENT.contains(name)) {
                byte[] value = value(from, name);
                check(Calls.setxattr(target, name(name), value, value.length, 0), name, refused);
            }
        }
        if (!refused.isEmpty()) {
            throw new IOException(String.join(", ", refused)); // the file may have no name
        }
    }

    @Override
    public Throwable ofLimit(Throwable refused) {
        RuntimeException limit = refused instanceof FileSystemException file && file.getFile() != null
                ? HostFailure.ofLimit(file.getFile(), file)
                : null;
        return limit == null ? refused : limit;
    }

    private static void check(int result, String name, List<String> refused) {
        int error = LibC.orErrno(result);
        if (error < 0) {
            refused.add(name + ": " + Errno.symbol(-error));
        }
    }

    private static byte[] name(String name) {
        return (name + "\0").getBytes(StandardCharsets.UTF_8);
    }

    private static List<String> names(Path path) {
        byte[] list = new byte[1 << 16]; // XATTR_LIST_MAX
        long length = Calls.listxattr(PathName.of(path), list, list.length);
        return length <= 0 // also where the file system has none
                ? List.of()
                : List.of(new String(list, 0, (int) length, StandardCharsets.UTF_8).split("\0"));
    }

    private static byte[] value(Path path, String name) throws IOException {
        byte[] value = new byte[1 << 16]; // XATTR_SIZE_MAX
        long length = LibC.orErrno(Calls.getxattr(PathName.of(path), name(name), value, value.length));
        if (length < 0) {
            throw new FileSystemException(path.toString(), null, name + ": " + Errno.symbol((int) -length));
        }
        return Arrays.copyOf(value, (int) length);
    }

    private record ServedUnnamed(UnnamedFile file) implements Unnamed {

        @Override
        public Path path() {
            return file.path();
        }

        @Override
        public void link(Path name) throws IOException {
            file.link(name);
        }

        @Override
        public void close() {
            file.close();
        }
    }

    /** Separate, so that they are resolved only on Linux. Names end with a zero byte. */
    static final class Calls {

        static {
            Native.register(Calls.class, NativeLibrary.getProcess());
        }

        private Calls() {}

        static native long listxattr(byte[] path, byte[] list, long bytes);

        static native long getxattr(byte[] path, byte[] name, byte[] value, long bytes);

        static native int setxattr(byte[] path, byte[] name, byte[] value, long bytes, int flags);

        static native int removexattr(byte[] path, byte[] name);
    }
}
