// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.FileOption;
import io.penstock.backend.nvme.ExtentMap;
import io.penstock.backend.nvme.NvmeOptions;
import io.penstock.backend.nvme.controller.BlockRead;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.controller.ControllerException;
import io.penstock.backend.nvme.controller.Namespace;
import io.penstock.engine.kit.file.HostFile;
import io.penstock.engine.kit.host.HostFiles;
import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Files that are named by the address of the controller, the namespace, and the range of blocks unless it is all:
 * {@code 0000:04:00.0/1}, or {@code 0000:04:00.0/1/2048+4096} for 4096 blocks from block 2048 on; and
 * {@linkplain ExtentMap maps of extents}, opened as the files that they describe. Other paths are files of the
 * operating system.
 */
public final class BlockRanges implements NvmeFiles {

    private static final Pattern ADDRESS = Pattern.compile("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");
    private static final Pattern NAME = Pattern.compile("([^/]+)/([1-9]\\d{0,8})(?:/(\\d{1,18})\\+([1-9]\\d{0,17}))?");

    private final Controller controller;
    private final boolean mayWrite;
    private final long segmentBytes;

    /** Openings of one range lock blocks against each other; openings of ranges that start elsewhere do not. */
    private record Identity(Controller controller, int namespace, long first) {}

    /**
     * Creates the files of a controller.
     *
     * @param mayWrite whether files may be opened for writing
     * @param segmentBytes the most bytes of one command, unless the controller takes less
     */
    public BlockRanges(Controller controller, boolean mayWrite, long segmentBytes) {
        this.controller = controller;
        this.mayWrite = mayWrite;
        this.segmentBytes = segmentBytes;
    }

    @Override
    public NativeFile open(Path path, Set<FileOption> options) throws IOException {
        try {
            if (path.getNameCount() > 0
                    && !path.isAbsolute()
                    && isAddress(path.getName(0).toString())) {
                return range(path, options);
            }
            return path.toString().endsWith(ExtentMap.SUFFIX)
                    ? mapped(path, options)
                    : HostFiles.open(path, options, segmentBytes);
        } catch (ControllerException e) {
            FileSystemException named = new FileSystemException(path.toString(), null, e.getMessage());
            named.initCause(e);
            throw named;
        }
    }

    /** Returns whether a text is a PCI address as this backend writes it. */
    static boolean isAddress(String text) {
        return ADDRESS.matcher(text).matches();
    }

    private NvmeFile range(Path path, Set<FileOption> options) throws IOException {
        HostFile.check(options);
        String name = path.toString();
        Matcher parts = NAME.matcher(name);
        if (!parts.matches() || !parts.group(1).equals(controller.bus().name())) {
            throw new NoSuchFileException(
                    name,
                    null,
                    "a file of this backend is " + controller.bus().name() + "/NAMESPACE or "
                            + controller.bus().name() + "/NAMESPACE/FIRST+BLOCKS");
        }
        checkOptions(name, options);
        Namespace space = controller.namespace(Integer.parseInt(parts.group(2)));
        long first = parts.group(3) == null ? 0 : Long.parseLong(parts.group(3));
        long blocks = parts.group(4) == null ? space.blocks() : Long.parseLong(parts.group(4));
        if (first > space.blocks() || blocks > space.blocks() - first) {
            throw new FileSystemException(name, null, "the namespace has " + space.blocks() + " blocks");
        }
        return new BlockRange(
                name,
                new Identity(controller, space.id(), first),
                space,
                first,
                blocks * space.blockBytes(),
                limits(controller, space, segmentBytes));
    }

    /** Checks first that the disk is the recorded one, and its file system as it was. */
    private NvmeFile mapped(Path path, Set<FileOption> options) throws IOException {
        HostFile.check(options);
        String name = path.toString();
        if (options.contains(FileOption.WRITE)) {
            throw new AccessDeniedException(name, null, "a file that is opened by its extents is read-only");
        }
        ExtentMap map = ExtentMap.read(path);
        if (!map.serial().equals(controller.identity().serial())) {
            throw new FileSystemException(
                    name,
                    null,
                    "the controller " + controller.bus().name() + " must have the serial number " + map.serial()
                            + ", has " + controller.identity().serial());
        }
        Namespace space = controller.namespace(map.namespace());
        ByteBuffer superblock = BlockRead.of(controller, space, map.superblock(), ExtentMap.SUPERBLOCK_BYTES);
        if (!map.matches(superblock)) {
            throw new FileSystemException(
                    name,
                    null,
                    "the file system has been mounted for writing, or replaced, since this map was recorded");
        }
        return new ExtentFile(name, map, space, limits(controller, space, segmentBytes));
    }

    private void checkOptions(String name, Set<FileOption> options) throws IOException {
        if (options.contains(FileOption.WRITE) && !mayWrite) {
            throw new AccessDeniedException(
                    name, null, "the controller is read-only here unless " + NvmeOptions.WRITE + "=true");
        }
        if (options.contains(FileOption.CREATE_NEW)) {
            throw new FileAlreadyExistsException(name);
        }
        if (options.contains(FileOption.TRUNCATE)) {
            throw new FileSystemException(name, null, "a range of blocks cannot be truncated");
        }
    }

    /**
     * Returns the limits of commands on a namespace: whole blocks, and memory as PRPs or scatter-gather lists demand
     * it.
     */
    static Limits limits(Controller controller, Namespace space, long segmentBytes) {
        long most = controller.identity().maxBytes() & -space.blockBytes();
        long segment = Math.max(space.blockBytes(), Math.min(most, segmentBytes) & -space.blockBytes());
        int sgl = controller.identity().sglAlignment();
        return new Limits(space.blockBytes(), sgl == 0 ? Integer.BYTES : sgl, most, segment, false);
    }
}
