// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.bench;

import io.penstock.FileOption;
import io.penstock.TransferPath;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What each job does.
 *
 * @param file the file, which exists and has its length
 * @param pattern the order of its blocks
 * @param blockBytes the bytes of one transfer
 * @param depth how many transfers are in flight
 * @param bytes how much of the file is used, a multiple of {@code blockBytes}
 * @param direct whether the page cache is bypassed ({@code O_DIRECT})
 * @param path the path that transfers must take; null for any
 */
public record Workload(
        Path file,
        AccessPattern pattern,
        long blockBytes,
        int depth,
        long bytes,
        boolean direct,
        @Nullable TransferPath path) {

    /** Returns how many blocks there are. */
    long blocks() {
        return bytes / blockBytes;
    }

    /** Returns this workload with other blocks and another number of them in flight. */
    Workload with(long otherBlockBytes, int otherDepth) {
        long whole = bytes - bytes % otherBlockBytes;
        return new Workload(file, pattern, otherBlockBytes, otherDepth, whole, direct, path);
    }

    FileOption[] fileOptions() {
        Set<FileOption> options = EnumSet.of(pattern.writes() ? FileOption.WRITE : FileOption.READ);
        if (direct) {
            options.add(FileOption.DIRECT);
        }
        if (path == TransferPath.MAPPED) {
            options.add(FileOption.IMMUTABLE); // guaranteed by the user who requests that path
        }
        return options.toArray(new FileOption[0]);
    }
}
