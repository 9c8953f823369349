// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

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
 *     for each dimension, from the sform, or else from the qform; empty if there is neither
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

    /** The most bytes of a header: the header of NIfTI-2; NIfTI-1 has 348. */
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
        return new Parser(file, start.slice()).parse();
    }

    /** Returns the bytes of all voxels. */
    public long bytes() {
        return Array.bytes(type, shape);
    }

    /** Reads the fields of a header at their offsets in nifti1.h or nifti2.h. */
    private static final class Parser {

        private static final String FORMAT = "NIfTI";

        private static final int MOST_DIMENSIONS = 7;
        private static final int DESCRIP_BYTES = 80;
        private static final int GLMIN = 144; // of NIfTI-1
        private static final int EXTENDER_BYTES = 4; // behind the header of a single file

        /**
         * Where the fields of one version are.
         *
         * @param bytes the length of the header, which is its first field
         * @param signature what follows the first two letters of the magic number
         * @param wide whether numbers are doubles, extents 64 bits, and codes 32 bits; otherwise floats and 16 bits
         */
        private record Layout(
                int bytes,
                String signature,
                boolean wide,
                int magic,
                int dim,
                int datatype,
                int bitpix,
                int pixdim,
                int voxOffset,
                int sclSlope,
                int sclInter,
                int descrip,
                int qformCode,
                int sformCode,
                int quaternion,
                int srowX) {

            static final Layout ONE =
                    new Layout(348, "1\0", false, 344, 40, 70, 72, 76, 108, 112, 116, 148, 252, 254, 256, 280);
            static final Layout TWO =
                    new Layout(540, "2\0\r\n\032\n", true, 4, 16, 12, 14, 104, 168, 176, 184, 240, 344, 348, 352, 400);
        }

        private static final Map<Integer, ElementType> TYPES = Map.ofEntries(
                Map.entry(2, ElementType.U8),
                Map.entry(4, ElementType.I16),
                Map.entry(8, ElementType.I32),
                Map.entry(16, ElementType.F32),
                Map.entry(32, ElementType.C64),
                Map.entry(64, ElementType.F64),
                Map.entry(128, ElementType.of("RGB24", 3)),
                Map.entry(256, ElementType.I8),
                Map.entry(512, ElementType.U16),
                Map.entry(768, ElementType.U32),
                Map.entry(1024, ElementType.I64),
                Map.entry(1280, ElementType.U64),
                Map.entry(1536, ElementType.of("LONGDOUBLE", 16)),
                Map.entry(1792, ElementType.C128),
                Map.entry(2048, ElementType.of("CLONGDOUBLE", 32)),
                Map.entry(2304, ElementType.of("RGBA32", 4)));

        private final Path file;
        private final ByteBuffer header;
        private final Layout layout;

        /** Starts with the first bytes of a file, whose byte order it sets. */
        Parser(Path file, ByteBuffer header) {
            this.file = file;
            this.header = header;
            Layout found = layout(header);
            if (found == null) {
                throw malformed(
                        "it must begin with the header's length, " + Layout.ONE.bytes + " or " + Layout.TWO.bytes);
            }
            layout = found;
        }

        /** Returns the version whose length the first bytes are, and sets their byte order; null if there is none. */
        private static @Nullable Layout layout(ByteBuffer start) {
            if (start.limit() < Integer.BYTES) {
                return null;
            }
            for (Layout layout : new Layout[] {Layout.ONE, Layout.TWO}) {
                for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
                    if (start.order(order).getInt(0) == layout.bytes) {
                        return layout;
                    }
                }
            }
            return null;
        }

        NiftiFields parse() {
            if (header.limit() < layout.bytes) {
                throw malformed("its header must have " + layout.bytes + " bytes, but the file has " + header.limit());
            }
            checkMagic();
            List<Long> shape = shape();
            List<Double> spacing = new ArrayList<>();
            for (int i = 1; i <= shape.size(); i++) {
                spacing.add(number(layout.pixdim, i));
            }
            NiftiFields fields = new NiftiFields(
                    type(),
                    header.order(),
                    shape,
                    offset(),
                    spacing,
                    number(layout.sclSlope, 0),
                    number(layout.sclInter, 0),
                    axes(),
                    description());
            checkBytes(fields);
            return fields;
        }

        private double number(int at, int index) {
            return layout.wide
                    ? header.getDouble(at + Double.BYTES * index)
                    : header.getFloat(at + Float.BYTES * index);
        }

        private long extent(int index) {
            return layout.wide
                    ? header.getLong(layout.dim + Long.BYTES * index)
                    : header.getShort(layout.dim + Short.BYTES * index);
        }

        private int code(int at) {
            return layout.wide ? header.getInt(at) : header.getShort(at);
        }

        private void checkMagic() {
            byte[] magic = new byte["n+".length() + layout.signature.length()];
            header.get(layout.magic, magic);
            String text = new String(magic, StandardCharsets.ISO_8859_1);
            if (text.equals("ni" + layout.signature)) {
                throw unsupported("it is the header of a .hdr/.img pair; only single .nii files are supported");
            }
            if (text.equals("\0\0\0\0")) {
                throw unsupported("it is ANALYZE 7.5, without a magic number");
            }
            String single = "n+" + layout.signature;
            if (!text.equals(single)) {
                throw malformed("its magic number must be " + hex(single) + ", was " + hex(text));
            }
        }

        private static String hex(String bytes) {
            return HexFormat.of().formatHex(bytes.getBytes(StandardCharsets.ISO_8859_1));
        }

        private ElementType type() {
            int datatype = header.getShort(layout.datatype);
            ElementType type = TYPES.get(datatype);
            if (type == null) {
                throw datatype == 1
                        ? unsupported("voxels of 1 bit (datatype 1) are not supported")
                        : malformed("datatype " + datatype + " is unknown");
            }
            int bits = header.getShort(layout.bitpix);
            if (bits != Byte.SIZE * type.blockBytes()) {
                throw malformed("its datatype is " + type + ", but it has " + bits + " bits per voxel");
            }
            return type;
        }

        private List<Long> shape() {
            long dimensions = extent(0);
            if (dimensions < 1 || dimensions > MOST_DIMENSIONS) {
                throw malformed("dim[0] must be 1 to " + MOST_DIMENSIONS + ", was " + dimensions);
            }
            List<Long> shape = new ArrayList<>();
            // FreeSurfer writes more than 16 bits hold, such as the vertices of a surface, as -1 1 1 and in glmin.
            boolean isLong = !layout.wide && dimensions >= 3 && extent(1) == -1 && extent(2) == 1 && extent(3) == 1;
            for (int i = 1; i <= dimensions; i++) {
                long extent = i == 1 && isLong ? header.getInt(GLMIN) : extent(i);
                if (extent < 1) {
                    throw malformed((i == 1 && isLong ? "dim[1] is -1, but glmin" : "dim[" + i + "]")
                            + " must be at least 1, was " + extent);
                }
                shape.add(extent);
            }
            return shape;
        }

        /** What starts before the least offset of a single file "is equivalent to" that offset (nifti1.h on vox_offset). */
        private long offset() {
            long least = (long) layout.bytes + EXTENDER_BYTES;
            if (layout.wide) {
                return Math.max(least, header.getLong(layout.voxOffset));
            }
            float offset = header.getFloat(layout.voxOffset);
            if (offset < least) {
                return least;
            }
            if (!(offset <= 0x1p62f) || offset != (long) offset) {
                throw malformed("its voxels must start at a whole byte, but start at " + offset);
            }
            return (long) offset;
        }

        private void checkBytes(NiftiFields fields) {
            try {
                Math.addExact(fields.offset(), fields.bytes());
            } catch (ArithmeticException | IllegalArgumentException e) {
                throw malformed(
                        "its voxels, " + fields.shape() + " of " + fields.type() + ", are too many: " + e.getMessage());
            }
        }

        private List<Double> axes() {
            if (code(layout.sformCode) > 0) {
                List<Double> matrix = new ArrayList<>();
                for (int i = 0; i < 9; i++) {
                    matrix.add(number(layout.srowX, 4 * (i / 3) + i % 3));
                }
                return matrix;
            }
            return code(layout.qformCode) > 0 ? rotation() : List.of();
        }

        /** The rotation of method 2 in nifti1.h. */
        private List<Double> rotation() {
            double b = number(layout.quaternion, 0);
            double c = number(layout.quaternion, 1);
            double d = number(layout.quaternion, 2);
            double a = Math.sqrt(Math.max(0, 1 - b * b - c * c - d * d));
            double qfac = number(layout.pixdim, 0) < 0 ? -1 : 1;
            double[] rotation = {
                a * a + b * b - c * c - d * d,
                2 * (b * c - a * d),
                qfac * 2 * (b * d + a * c),
                2 * (b * c + a * d),
                a * a + c * c - b * b - d * d,
                qfac * 2 * (c * d - a * b),
                2 * (b * d - a * c),
                2 * (c * d + a * b),
                qfac * (a * a + d * d - b * b - c * c)
            };
            List<Double> matrix = new ArrayList<>();
            for (int i = 0; i < rotation.length; i++) {
                double spacing = Math.abs(number(layout.pixdim, i % 3 + 1));
                matrix.add(rotation[i] * (spacing == 0 ? 1 : spacing)); // many writers leave it out
            }
            return matrix;
        }

        private String description() {
            byte[] text = new byte[DESCRIP_BYTES];
            header.get(layout.descrip, text);
            String all = new String(text, StandardCharsets.ISO_8859_1);
            int end = all.indexOf('\0');
            return (end < 0 ? all : all.substring(0, end)).strip();
        }

        private MalformedFileException unsupported(String complaint) {
            return MalformedFileException.unsupported(file, FORMAT, complaint);
        }

        private MalformedFileException malformed(String complaint) {
            return new MalformedFileException(file, FORMAT, complaint);
        }
    }
}
