// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.kit.ffi.PathName;
import io.penstock.file.PartFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * ACLs and extended attributes of files that are replaced, by the calls of the kernel: setfacl may not be installed.
 */
@EnabledOnOs(value = OS.LINUX, disabledReason = "other systems have other ACLs")
class AclTest {

    private static final String ACCESS = "system.posix_acl_access";
    private static final int USER = 1234;

    @TempDir
    Path folder;

    private Path target;

    @BeforeEach
    void old() throws IOException {
        assumeTrue(Machine.isSupported() && NativeAccess.refusal() == null, "no native access");
        target = Files.writeString(folder.resolve("target"), "old");
    }

    private static byte[] name(String name) {
        return (name + "\0").getBytes(StandardCharsets.UTF_8);
    }

    private static void set(Path path, String name, byte[] value) {
        int result = LinuxAttributes.Calls.setxattr(PathName.of(path), name(name), value, value.length, 0);
        assumeTrue(result == 0, "no " + name + " on this file system");
    }

    private static byte @Nullable [] get(Path path, String name) {
        byte[] value = new byte[1000];
        long length = LinuxAttributes.Calls.getxattr(PathName.of(path), name(name), value, value.length);
        return length < 0 ? null : Arrays.copyOf(value, (int) length);
    }

    /** Returns an ACL by which another user may read: tags, permissions and IDs, as acl(5) and the kernel have them. */
    private static byte[] acl() {
        ByteBuffer acl =
                ByteBuffer.allocate(4 + 5 * 8).order(ByteOrder.LITTLE_ENDIAN).putInt(2);
        int[][] entries = {{1, 6, -1}, {2, 4, USER}, {4, 0, -1}, {16, 4, -1}, {32, 0, -1}};
        for (int[] entry : entries) {
            acl.putShort((short) entry[0]).putShort((short) entry[1]).putInt(entry[2]);
        }
        return acl.array();
    }

    private void replace() throws IOException {
        try (PartFile file = PartFile.create(target, true, null)) {
            file.fill(part -> Files.writeString(part, "new"));
            file.commit();
        }
        assertThat(target).hasContent("new");
    }

    @Test
    void whoMayReadTheOldFileMayReadTheNewOne() throws IOException {
        set(target, ACCESS, acl());
        set(target, "user.origin", new byte[] {1, 2, 3});
        replace();
        assertThat(get(target, ACCESS)).isEqualTo(acl());
        assertThat(get(target, "user.origin")).containsExactly(1, 2, 3);
    }

    @Test
    void whoMayReadNewFilesOfTheFolderMayNotReadWhatReplacesAnOldOne() throws IOException {
        set(folder, "system.posix_acl_default", acl());
        assertThat(get(target, ACCESS)).isNull();
        replace();
        assertThat(get(target, ACCESS)).isNull();
        Path other = Files.createFile(folder.resolve("other"));
        assertThat(get(other, ACCESS)).isNotNull();
    }

    @Test
    void whatVouchesForTheOldContentIsNotTakenOver() throws IOException {
        set(target, "security.capability", capability());
        replace();
        assertThat(get(target, "security.capability")).isNull();
    }

    /** Returns the capability to bind ports below 1024, effective: version 2 of linux/capability.h. */
    private static byte[] capability() {
        return ByteBuffer.allocate(20)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(0x02000001)
                .putInt(1 << 10)
                .array();
    }
}
