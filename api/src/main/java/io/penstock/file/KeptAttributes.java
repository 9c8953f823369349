// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.AclFileAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.Set;
import reactor.util.Logger;
import reactor.util.Loggers;

/**
 * What belongs to a name, and stays when another file takes its place: owner, permissions, ACL, extended attributes.
 */
final class KeptAttributes {

    private static final Logger LOG = Loggers.getLogger(KeptAttributes.class);

    private KeptAttributes() {}

    /**
     * Gives a file what another one has. What the file system or the process' rights refuse is logged; the file is then
     * readable by fewer, never by more.
     *
     * @param from is replaced; if there is none, nothing happens
     * @param to of this process, and readable by its owner alone
     * @param files copies what the JDK does not know
     */
    static void copy(Path from, Path to, NativeFiles files) throws IOException {
        PosixFileAttributeView before = Files.getFileAttributeView(from, PosixFileAttributeView.class);
        PosixFileAttributeView now = Files.getFileAttributeView(to, PosixFileAttributeView.class);
        try {
            if (before != null && now != null) {
                BlockingCall.Step others = () -> files.copyAttributes(from, to);
                copy(before.readAttributes(), now, from, others);
                return;
            }
            AclFileAttributeView acl = Files.getFileAttributeView(from, AclFileAttributeView.class); // of Windows
            AclFileAttributeView own = Files.getFileAttributeView(to, AclFileAttributeView.class);
            if (acl != null && own != null && Files.exists(from)) {
                kept(from, "its ACL", () -> own.setAcl(acl.getAcl()));
                kept(from, "its owner", () -> own.setOwner(acl.getOwner()));
            }
        } catch (NoSuchFileException e) {
            // nothing is replaced
        }
    }

    /** Gives a new file of this process these permissions, unless they are refused, which is logged. */
    static void grant(Path file, Path name, Set<PosixFilePermission> permissions) {
        kept(name, "its permissions", () -> Files.setPosixFilePermissions(file, permissions));
    }

    private static void copy(PosixFileAttributes from, PosixFileAttributeView to, Path old, BlockingCall.Step others)
            throws IOException {
        PosixFileAttributes made = to.readAttributes();
        boolean group = made.group().equals(from.group())
                || kept(old, "its group " + from.group(), () -> to.setGroup(from.group()));
        if (!made.owner().equals(from.owner())) {
            kept(old, "its owner " + from.owner(), () -> to.setOwner(from.owner()));
        }
        boolean acl = kept(old, "its ACL or an extended attribute", others);
        Set<PosixFilePermission> permissions = EnumSet.noneOf(PosixFilePermission.class);
        permissions.addAll(from.permissions());
        if (!group || !acl) {
            shareWithOthersOnly(permissions);
        }
        if (!to.readAttributes().permissions().equals(permissions)) {
            kept(old, "its permissions", () -> to.setPermissions(permissions));
        }
    }

    /** Another group, or one whose ACL is not known, may do what everybody may. */
    private static void shareWithOthersOnly(Set<PosixFilePermission> permissions) {
        if (!permissions.contains(PosixFilePermission.OTHERS_READ)) {
            permissions.remove(PosixFilePermission.GROUP_READ);
        }
        if (!permissions.contains(PosixFilePermission.OTHERS_WRITE)) {
            permissions.remove(PosixFilePermission.GROUP_WRITE);
        }
        if (!permissions.contains(PosixFilePermission.OTHERS_EXECUTE)) {
            permissions.remove(PosixFilePermission.GROUP_EXECUTE);
        }
    }

    private static boolean kept(Path of, String what, BlockingCall.Step step) {
        try {
            step.run();
            return true;
        } catch (Exception e) { // as of CIFS, FUSE, or a process that is not root
            LOG.warn("the new file {} cannot have {}: {}", of, what, e.toString());
            return false;
        }
    }
}
