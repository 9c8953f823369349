// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reads the fields of a NIfTI-1 header at their offsets in nifti1.h. */
final class NiftiParser {

    static final String FORMAT = "NIfTI-1";

    private static final int NIFTI_2_BYTES = 540;
    private static final int MOST_DIMENSIONS = 7;

    private static final int DIM = 40;
    private static final int DATATYPE = 70;
    private static final int BITPIX = 72;
    private static final int PIXDIM = 76;
    private static final int VOX_OFFSET = 108;
    private static final int SCL_SLOPE = 112;
    private static final int SCL_INTER = 116;
    private static final int DESCRIP = 148;
    private static final int DESCRIP_BYTES = 80;
    private static final int QFORM_CODE = 252;
    private static final int SFORM_CODE = 254;
    private static final int QUATERNION = 256;
    private static final int SROW_X = 280;
    private static final int MAGIC = 344;

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

    NiftiParser(Path file, ByteBuffer header) {
        this.file = file;
        this.header = header;
    }

    /** Returns the order in which the first bytes are the header's length, or null if they are not in either. */
    static @Nullable ByteOrder byteOrder(ByteBuffer start, int length) {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            if (start.limit() >= Integer.BYTES && start.order(order).getInt(0) == length) {
                return order;
            }
        }
        return null;
    }

    NiftiFields parse() {
        ByteOrder order = byteOrder(header, NiftiFields.BYTES);
        if (order == null) {
            throw malformed(
                    byteOrder(header, NIFTI_2_BYTES) == null
                            ? "it must begin with the header's length, " + NiftiFields.BYTES
                            : "it is NIfTI-2, which is not supported");
        }
        if (header.limit() < NiftiFields.BYTES) {
            throw malformed("its header must have " + NiftiFields.BYTES + " bytes, but the file has " + header.limit());
        }
        checkMagic();
        header.order(order);
        List<Long> shape = shape();
        List<Double> spacing = new ArrayList<>();
        for (int i = 1; i <= shape.size(); i++) {
            spacing.add((double) header.getFloat(PIXDIM + Float.BYTES * i));
        }
        NiftiFields fields = new NiftiFields(
                type(),
                order,
                shape,
                offset(),
                spacing,
                header.getFloat(SCL_SLOPE),
                header.getFloat(SCL_INTER),
                axes(),
                description());
        checkBytes(fields);
        return fields;
    }

    private void checkMagic() {
        int magic = header.order(ByteOrder.BIG_ENDIAN).getInt(MAGIC);
        if (magic == 0x6e693100) { // "ni1"
            throw malformed("it is the header of a .hdr/.img pair; only single .nii files are supported");
        }
        if (magic == 0) {
            throw malformed("it is ANALYZE 7.5, without a magic number");
        }
        if (magic != 0x6e2b3100) { // "n+1"
            throw malformed("its magic number must be 0x6e2b3100, was 0x%08x".formatted(magic));
        }
    }

    private ElementType type() {
        int datatype = header.getShort(DATATYPE);
        ElementType type = TYPES.get(datatype);
        if (type == null) {
            throw malformed(
                    datatype == 1
                            ? "voxels of 1 bit (datatype 1) are not supported"
                            : "datatype " + datatype + " is unknown");
        }
        int bits = header.getShort(BITPIX);
        if (bits != Byte.SIZE * type.blockBytes()) {
            throw malformed("its datatype is " + type + ", but it has " + bits + " bits per voxel");
        }
        return type;
    }

    private List<Long> shape() {
        int dimensions = header.getShort(DIM);
        if (dimensions < 1 || dimensions > MOST_DIMENSIONS) {
            throw malformed("dim[0] must be 1 to " + MOST_DIMENSIONS + ", was " + dimensions);
        }
        List<Long> shape = new ArrayList<>();
        for (int i = 1; i <= dimensions; i++) {
            long extent = header.getShort(DIM + Short.BYTES * i);
            if (extent < 1) {
                throw malformed("dim[" + i + "] must be at least 1, was " + extent);
            }
            shape.add(extent);
        }
        return shape;
    }

    private long offset() {
        float offset = header.getFloat(VOX_OFFSET);
        if (!(offset >= NiftiFields.BYTES && offset <= 0x1p62f) || offset != (long) offset) {
            throw malformed("its voxels must start at a whole byte, after the header, but start at " + offset);
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
        if (header.getShort(SFORM_CODE) > 0) {
            List<Double> matrix = new ArrayList<>();
            for (int i = 0; i < 9; i++) {
                matrix.add((double) header.getFloat(SROW_X + 4 * Float.BYTES * (i / 3) + Float.BYTES * (i % 3)));
            }
            return matrix;
        }
        return header.getShort(QFORM_CODE) > 0 ? rotation() : List.of();
    }

    /** The rotation of method 2 in nifti1.h. */
    private List<Double> rotation() {
        double b = header.getFloat(QUATERNION);
        double c = header.getFloat(QUATERNION + Float.BYTES);
        double d = header.getFloat(QUATERNION + 2 * Float.BYTES);
        double a = Math.sqrt(Math.max(0, 1 - b * b - c * c - d * d));
        double qfac = header.getFloat(PIXDIM) < 0 ? -1 : 1;
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
            double spacing = Math.abs(header.getFloat(PIXDIM + Float.BYTES * (i % 3 + 1)));
            matrix.add(rotation[i] * (spacing == 0 ? 1 : spacing)); // many writers leave it out
        }
        return matrix;
    }

    private String description() {
        byte[] text = new byte[DESCRIP_BYTES];
        header.get(DESCRIP, text);
        String all = new String(text, StandardCharsets.ISO_8859_1);
        int end = all.indexOf('\0');
        return (end < 0 ? all : all.substring(0, end)).strip();
    }

    private MalformedFileException malformed(String complaint) {
        return new MalformedFileException(file, FORMAT, complaint);
    }
}
