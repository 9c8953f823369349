// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A folder with a file system mounted on it, which is unmounted in any case: by {@link #close}, or when the JVM ends.
 */
final class Mounted implements AutoCloseable {

    private static final Set<Path> FOLDERS = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> FOLDERS.forEach(Mounted::unmountSomehow)));
    }

    private final Path folder;

    private Mounted(Path folder) {
        this.folder = folder;
    }

    /** Mounts on {@code folder}, by mount's own arguments before it. */
    static Mounted mount(Path folder, String... arguments) throws IOException {
        String[] command = new String[arguments.length + 2];
        command[0] = "mount";
        System.arraycopy(arguments, 0, command, 1, arguments.length);
        command[arguments.length + 1] = folder.toString();
        Mounted mounted = adopt(folder);
        try {
            Tool.run(command);
        } catch (IOException e) {
            FOLDERS.remove(folder);
            throw e;
        }
        return mounted;
    }

    /** Takes care of what another program mounts. */
    static Mounted adopt(Path folder) {
        FOLDERS.add(folder);
        return new Mounted(folder);
    }

    /** Unmounts, if that has not been done; open files stay usable until they are closed. */
    @Override
    public void close() throws IOException {
        FOLDERS.remove(folder);
        if (isMounted(folder)) {
            Tool.run("umount", "--lazy", folder.toString());
        }
    }

    /** Unmounts, and fails if it is in use. */
    void unmount() throws IOException {
        Tool.run("umount", folder.toString());
        FOLDERS.remove(folder);
    }

    /** Returns whether something is mounted on {@code folder}, also if its server is dead. */
    private static boolean isMounted(Path folder) throws IOException {
        String place = " " + folder.toAbsolutePath().normalize() + " ";
        return Files.readString(Path.of("/proc/self/mountinfo")).contains(place);
    }

    private static void unmountSomehow(Path folder) {
        try {
            if (isMounted(folder)) {
                Tool.run("umount", "--lazy", folder.toString());
            }
        } catch (IOException e) {
            System.err.println("still mounted: " + e.getMessage());
        }
    }
}
