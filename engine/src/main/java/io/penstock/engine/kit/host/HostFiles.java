// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.host;

import io.penstock.FileOption;
import io.penstock.engine.host.file.ChannelFile;
import io.penstock.engine.host.file.LinuxFile;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.file.HostFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/** Opens host files for paths that read and write them themselves. */
public final class HostFiles {

    private HostFiles() {}

    /**
     * Opens a regular file or a block device: by a descriptor on Linux, by a JDK channel elsewhere.
     *
     * @param segmentBytes how many bytes one request should move
     * @throws IOException of the JDK's types where one fits, as {@link java.nio.channels.FileChannel#open} would
     */
    public static HostFile open(Path path, Set<FileOption> options, long segmentBytes) throws IOException {
        return Machine.isSupported()
                ? LinuxFile.open(path, options, segmentBytes)
                : ChannelFile.open(path, options, segmentBytes);
    }
}
