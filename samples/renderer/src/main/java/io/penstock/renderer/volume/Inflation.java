// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import io.penstock.formats.NiftiFields;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;

/**
 * Inflates one {@code .nii.gz} into a temporary {@code .nii}, streaming: header and first volume, and no more than the
 * header declares, so that a decompression bomb cannot fill the disk.
 */
final class Inflation {

    private static final int BUFFER_BYTES = 1 << 18;

    private final Path path;
    private final InflationProgress progress;
    private @Nullable NiftiHeader header;

    Inflation(Path path, InflationProgress progress) {
        this.path = path;
        this.progress = progress;
    }

    /** Returns the temporary file, which the caller closes; if this fails, nothing is left behind. */
    InflatedFile run() throws IOException {
        try (InputStream file = Files.newInputStream(path);
                InputStream voxels = gunzip(file)) {
            byte[] start = inflate(voxels, NiftiFields.MOST_BYTES);
            NiftiHeader parsed = NiftiHeader.parse(path, ByteBuffer.wrap(start));
            header = parsed;
            InflatedFile into = temporary(parsed);
            try {
                copy(start, voxels, into, parsed);
                return into;
            } catch (IOException | RuntimeException | Error e) {
                into.close();
                throw e;
            }
        }
    }

    NiftiHeader header() {
        if (header == null) {
            throw new IllegalStateException("not inflated yet");
        }
        return header;
    }

    private InflatedFile temporary(NiftiHeader promised) throws IOException {
        InflatedFile into;
        try {
            into = InflatedFile.create();
        } catch (IOException e) {
            throw new BadVolumeException(
                    "no temporary file can be made to inflate " + path + " into: " + e.getMessage(), e);
        }
        long free = Files.getFileStore(into.folder()).getUsableSpace();
        if (free < promised.end()) {
            into.close();
            throw new BadVolumeException("disk full: " + path + " inflates to " + promised.end() + " bytes, and "
                    + into.folder() + " has " + free + " left");
        }
        return into;
    }

    private void copy(byte[] start, InputStream voxels, InflatedFile into, NiftiHeader promised) throws IOException {
        long end = promised.end();
        long done = start.length;
        try (OutputStream out = Files.newOutputStream(into.path())) {
            write(out, start, start.length, into);
            while (done < end) {
                byte[] bytes = inflate(voxels, (int) Math.min(BUFFER_BYTES, end - done));
                write(out, bytes, bytes.length, into);
                done += bytes.length;
                progress.inflated(into.toString(), done, end);
                if (bytes.length == 0) {
                    NiftiFile.checkLength(path, promised, done);
                }
            }
        }
        if (promised.volumes() == 1) {
            inflate(voxels, BUFFER_BYTES); // the checksum follows the last byte
        }
    }

    private void write(OutputStream out, byte[] bytes, int length, InflatedFile into) throws IOException {
        try {
            out.write(bytes, 0, length);
        } catch (IOException e) {
            throw new BadVolumeException(path + " cannot be inflated into " + into.folder() + ": " + reason(e), e);
        }
    }

    private InputStream gunzip(InputStream file) throws IOException {
        try {
            return new GZIPInputStream(file, BUFFER_BYTES);
        } catch (EOFException | ZipException e) {
            throw damaged(e);
        }
    }

    /** Returns the next {@code length} bytes, or fewer at the end of the data. */
    private byte[] inflate(InputStream voxels, int length) throws IOException {
        try {
            return voxels.readNBytes(length);
        } catch (EOFException | ZipException e) {
            throw damaged(e);
        }
    }

    private BadVolumeException damaged(IOException e) {
        String fact = e instanceof EOFException ? "truncated: its gzip data end early" : "damaged: " + e.getMessage();
        return new BadVolumeException(path + " is " + fact, e);
    }

    private static String reason(IOException e) {
        String reason = e instanceof FileSystemException f ? f.getReason() : e.getMessage();
        return reason == null ? e.toString() : reason;
    }
}
