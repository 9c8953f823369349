// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.Random;
import java.util.zip.GZIPOutputStream;

/** Makes NIfTI-1 files for tests: sound ones, and ones with a field changed. */
public final class Phantom {

    interface Shape {
        double at(int x, int y, int z);
    }

    private static final int OFFSET = 352;

    final ByteBuffer file;

    Phantom(VoxelType type, ByteOrder order, int columns, int rows, int slices, Shape shape) {
        file = ByteBuffer.allocate(OFFSET + columns * rows * slices * type.bytes())
                .order(order);
        file.putInt(0, 348);
        dim(0, 3).dim(1, columns).dim(2, rows).dim(3, slices);
        datatype(codeOf(type), 8 * type.bytes());
        spacing(1, 1, 1).voxelOffset(OFFSET).magic("n+1");
        int at = OFFSET;
        for (int z = 0; z < slices; z++) {
            for (int y = 0; y < rows; y++) {
                for (int x = 0; x < columns; x++) {
                    put(type, at, shape.at(x, y, z));
                    at += type.bytes();
                }
            }
        }
    }

    /** A dense ball with bumps, of brightness 0 to 200, off the middle so that no symmetry hides a mistake. */
    public static Phantom ball(VoxelType type, ByteOrder order, int columns, int rows, int slices) {
        return new Phantom(type, order, columns, rows, slices, (x, y, z) -> {
            double dx = (x - 0.45 * columns) / columns;
            double dy = (y - 0.55 * rows) / rows;
            double dz = (z - 0.5 * slices) / slices;
            double bump = 0.03 * Math.sin(x * 0.9) * Math.cos(y * 0.7 + z * 0.4);
            double value = 900 * (0.36 + bump - Math.sqrt(dx * dx + dy * dy + dz * dz));
            return Math.max(0, Math.min(type == VoxelType.INT8 ? 120 : 200, Math.floor(value)));
        });
    }

    /** Noise, of which no picture compresses well. */
    public static Phantom noise(int columns, int rows, int slices) {
        Random random = new Random(1);
        return new Phantom(
                VoxelType.UINT8,
                ByteOrder.LITTLE_ENDIAN,
                columns,
                rows,
                slices,
                (x, y, z) -> random.nextInt(256) * random.nextDouble());
    }

    Phantom dim(int index, int value) {
        file.putShort(40 + 2 * index, (short) value);
        return this;
    }

    Phantom datatype(int code, int bits) {
        file.putShort(70, (short) code).putShort(72, (short) bits);
        return this;
    }

    public Phantom spacing(double x, double y, double z) {
        file.putFloat(80, (float) x).putFloat(84, (float) y).putFloat(88, (float) z);
        return this;
    }

    Phantom voxelOffset(float offset) {
        file.putFloat(108, offset);
        return this;
    }

    public Phantom slope(float slope) {
        file.putFloat(112, slope);
        return this;
    }

    Phantom magic(String magic) {
        for (int i = 0; i < 4; i++) {
            file.put(344 + i, i < magic.length() ? (byte) magic.charAt(i) : 0);
        }
        return this;
    }

    /** Sets the sform, nine numbers by rows. */
    Phantom sform(double... matrix) {
        file.putShort(254, (short) 1);
        for (int i = 0; i < 9; i++) {
            file.putFloat(280 + 16 * (i / 3) + 4 * (i % 3), (float) matrix[i]);
        }
        return this;
    }

    Phantom qform(double b, double c, double d, double qfac) {
        file.putShort(252, (short) 1).putFloat(76, (float) qfac);
        file.putFloat(256, (float) b).putFloat(260, (float) c).putFloat(264, (float) d);
        return this;
    }

    public NiftiHeader header() throws BadVolumeException {
        return NiftiHeader.parse(Path.of("phantom.nii"), file.duplicate());
    }

    public byte[] bytes() {
        return file.array().clone();
    }

    byte[] gzipped() throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
            gzip.write(file.array());
        }
        return bytes.toByteArray();
    }

    private void put(VoxelType type, int at, double value) {
        switch (type) {
            case UINT8, INT8 -> file.put(at, (byte) (int) value);
            case INT16, UINT16 -> file.putShort(at, (short) (int) value);
            case FLOAT32 -> file.putFloat(at, (float) value);
        }
    }

    private static int codeOf(VoxelType type) {
        return switch (type) {
            case UINT8 -> 2;
            case INT16 -> 4;
            case FLOAT32 -> 16;
            case INT8 -> 256;
            case UINT16 -> 512;
        };
    }
}
