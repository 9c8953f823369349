// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * The checked fields of the header of a NIfTI-1 or NIfTI-2 file, a {@code .nii}.
 *
 * @param type the type of the voxels; {@code RGB24} and {@code RGBA32} have 3 and 4 bytes
 * @param byteOrder the byte order of header and voxels
 * @param shape the extent of each dimension; the first varies fastest in the file
 * @param offset where the voxels start, in bytes from the start of the file
 * @param spacing the distance of voxels along each dimension, in the file's unit, as it is in the file
 * @param slope the factor of the values, 0 if they are not scaled
 * @param intercept what is added to the values
 * @param axes where the first three dimensions point in the patient: three rows (right, anterior, superior) of a number
 *     for each dimension, those of the sform, or else of the qform; empty if there is neither
 * @param description the text in the header
 */
public record NiftiFields(
        ElementType type,
        ByteOrder byteOrder,
        List<Long> shape,
        long offset,
        List<Double> spacing,
        double slope,
        double intercept,
        List<Double> axes,
        String description) {

    /** The most bytes of a header: those of NIfTI-2; NIfTI-1 has 348. */
    public static final int MOST_BYTES = 540;

    /** Copies the lists. */
    public NiftiFields {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(byteOrder, "byteOrder");
        Objects.requireNonNull(description, "description");
        shape = List.copyOf(shape);
        spacing = List.copyOf(spacing);
        axes = List.copyOf(axes);
    }

    /**
     * Parses a header.
     *
     * @param file the file, for messages
     * @param start the first bytes of the file, from position to limit
     * @throws MalformedFileException if they are not the header of a NIfTI file with its voxels
     */
    public static NiftiFields parse(Path file, ByteBuffer start) {
        return new NiftiParser(file, start.slice()).parse();
    }

    /** Returns the bytes of all voxels. */
    public long bytes() {
        return Array.bytes(type, shape);
    }
}
