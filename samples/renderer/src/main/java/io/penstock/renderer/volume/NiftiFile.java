// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.formats.NiftiFields;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A volume on disk, not compressed, with its header checked against the file's length.
 *
 * <p><b>Ownership:</b> the caller of {@link #open} closes it; its temporary file is then deleted.
 */
public final class NiftiFile implements AutoCloseable {

    private final Path path;
    private final NiftiHeader header;
    private final @Nullable InflatedFile temporary;

    private NiftiFile(Path path, NiftiHeader header, @Nullable InflatedFile temporary) {
        this.path = path;
        this.header = header;
        this.temporary = temporary;
    }

    /**
     * Opens a {@code .nii} directly, and inflates a {@code .nii.gz} into a temporary file first. The first bytes decide
     * which of the two it is, not the name.
     *
     * @throws BadVolumeException with a one-line message, if it cannot be drawn; no temporary file remains then
     */
    public static NiftiFile open(Path path, InflationProgress progress) throws BadVolumeException {
        try {
            ByteBuffer start = firstBytes(path);
            if (isGzip(start)) {
                return inflated(path, progress);
            }
            NiftiHeader header = NiftiHeader.parse(path, start);
            checkLength(path, header, Files.size(path));
            return new NiftiFile(path, header, null);
        } catch (IOException e) {
            throw inWords(path, e);
        }
    }

    private static BadVolumeException inWords(Path path, IOException e) {
        if (e instanceof BadVolumeException known) {
            return known;
        }
        if (e instanceof NoSuchFileException) {
            return new BadVolumeException("there is no file " + path, e);
        }
        String reason = e instanceof AccessDeniedException ? "permission denied" : e.getMessage();
        return new BadVolumeException(path + " cannot be read: " + reason, e);
    }

    /** Returns the file that holds the voxels: the opened file, or a temporary file. */
    public Path path() {
        return path;
    }

    public NiftiHeader header() {
        return header;
    }

    /**
     * Checks that the file still has the header that was read when it was opened.
     *
     * @throws BadVolumeException if another volume has taken its place since
     */
    public void checkSame() throws BadVolumeException {
        try {
            if (!NiftiHeader.parse(path, firstBytes(path)).equals(header)) {
                throw new BadVolumeException(
                        path + " is another volume than when it was opened: start penstock view again");
            }
        } catch (IOException e) {
            throw inWords(path, e);
        }
    }

    /** Returns true if {@link #path} is a temporary file. */
    public boolean temporary() {
        return temporary != null;
    }

    /** Deletes the temporary file, if there is one. */
    @Override
    public void close() {
        if (temporary != null) {
            temporary.close();
        }
    }

    private static NiftiFile inflated(Path path, InflationProgress progress) throws IOException {
        Inflation inflation = new Inflation(path, progress);
        InflatedFile inflated = inflation.run();
        return new NiftiFile(inflated.path(), inflation.header(), inflated);
    }

    private static void checkRegular(Path path) throws BadVolumeException {
        if (Files.isDirectory(path)) {
            throw new BadVolumeException(path + " is a directory, not a NIfTI file");
        }
        if (Files.exists(path) && !Files.isRegularFile(path)) { // the opening of a named pipe would wait for its writer
            throw new BadVolumeException(path + " is not a regular file");
        }
    }

    private static ByteBuffer firstBytes(Path path) throws IOException {
        checkRegular(path);
        ByteBuffer start = ByteBuffer.allocate(NiftiFields.MOST_BYTES);
        try (SeekableByteChannel channel = Files.newByteChannel(path)) {
            while (start.hasRemaining() && channel.read(start) >= 0) {
                // a read may be short
            }
        }
        return start.flip();
    }

    private static boolean isGzip(ByteBuffer start) {
        return start.limit() >= 2 && start.get(0) == 0x1f && start.get(1) == (byte) 0x8b;
    }

    static void checkLength(Path path, NiftiHeader header, long length) throws BadVolumeException {
        long missing = header.end() - length;
        if (missing > 0) {
            throw new BadVolumeException(
                    "%s is truncated: the header specifies %d bytes of voxels from byte %d but the "
                                    .formatted(path, header.volumeBytes(), header.voxelOffset())
                            + "file ends at %d (%d %s missing)"
                                    .formatted(length, missing, missing == 1 ? "byte" : "bytes"));
        }
    }
}
