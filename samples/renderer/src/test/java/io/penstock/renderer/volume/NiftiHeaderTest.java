// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class NiftiHeaderTest {

    static Stream<Arguments> typesAndOrders() {
        return Stream.of(VoxelType.values())
                .flatMap(type -> Stream.of(ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN)
                        .map(order -> Arguments.of(type, order)));
    }

    private static Phantom phantom() {
        return Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 5, 6, 7);
    }

    @ParameterizedTest
    @MethodSource("typesAndOrders")
    void everyTypeIsReadInBothByteOrders(VoxelType type, ByteOrder order) throws Exception {
        NiftiHeader header =
                Phantom.ball(type, order, 5, 6, 7).spacing(0.5, -1.5, 0).header();

        assertThat(header.type()).isEqualTo(type);
        assertThat(header.order()).isEqualTo(order);
        assertThat(new int[] {header.columns(), header.rows(), header.slices()}).containsExactly(5, 6, 7);
        assertThat(header.spacing()).isEqualTo(new NiftiHeader.Spacing(0.5, 1.5, 1));
        assertThat(header.voxelOffset()).isEqualTo(352);
        assertThat(header.volumeBytes()).isEqualTo(210L * type.bytes());
        assertThat(header.volumes()).isEqualTo(1);
    }

    private static NiftiHeader second(long columns, long rows, long slices) throws BadVolumeException {
        ByteBuffer file = ByteBuffer.allocate(540).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(540).put(new byte[] {'n', '+', '2', 0, '\r', '\n', 26, '\n'});
        file.putShort((short) 16).putShort((short) 32); // float32
        file.putLong(3).putLong(columns).putLong(rows).putLong(slices);
        file.putDouble(112, 0.5).putLong(168, 544);
        return NiftiHeader.parse(Path.of("two.nii"), file.rewind());
    }

    @Test
    void theSecondVersionIsReadToo() throws Exception {
        NiftiHeader header = second(40_000, 6, 7);
        assertThat(header.type()).isEqualTo(VoxelType.FLOAT32);
        assertThat(new int[] {header.columns(), header.rows(), header.slices()}).containsExactly(40_000, 6, 7);
        assertThat(header.spacing()).isEqualTo(new NiftiHeader.Spacing(0.5, 1, 1));
        assertThat(header.voxelOffset()).isEqualTo(544);
        for (long columns : new long[] {1L << 31, 1L << 39, 1L << 60}) {
            assertThatThrownBy(() -> second(columns, 1, 1))
                    .isInstanceOf(BadVolumeException.class)
                    .hasMessageContaining("two.nii is absurdly large: [" + columns + ", 1, 1] voxels of FLOAT32");
        }
    }

    @Test
    void missingAxesCountAsOneAndFurtherVolumesAreCounted() throws Exception {
        assertThat(phantom().dim(0, 2).header().slices()).isEqualTo(1);
        assertThat(phantom().dim(0, 5).dim(4, 3).dim(5, 4).header().volumes()).isEqualTo(12);
    }

    @ParameterizedTest
    @CsvSource({"0,0", "1,-1", "2,0", "3,-7", "0,8"})
    void absurdExtentsAreRefused(int index, int value) {
        assertBad(phantom().dim(index, value), "phantom.nii: not a valid NIfTI file: dim[" + index + "] must be ");
    }

    @Test
    void moreThanOneTebibyteIsRefused() {
        assertBad(
                phantom().dim(1, 32767).dim(2, 32767).dim(3, 32767),
                "phantom.nii is absurdly large: [32767, 32767, 32767] voxels of UINT8 from byte 352 on, more than 1 TiB");
    }

    @ParameterizedTest
    @CsvSource({"8,32,I32", "64,64,F64", "128,24,RGB24"})
    void otherTypesAreRefusedByName(int code, int bits, String name) {
        assertBad(
                phantom().datatype(code, bits),
                "phantom.nii has " + name + " voxels; 8-bit and 16-bit integers and float32 are supported");
    }

    @Test
    void aHeaderThatContradictsItselfIsRefused() {
        assertBad(phantom().datatype(2, 16), "its datatype is U8, but it has 16 bits per voxel");
    }

    @Test
    void anOffsetBelowTheLeastOneIsTheLeastOne() throws BadVolumeException {
        assertThat(phantom().voxelOffset(12).header().voxelOffset()).isEqualTo(352);
    }

    @Test
    void absurdOffsetsAndSpacingsAreRefused() {
        assertBad(phantom().voxelOffset(Float.NaN), "but start at NaN");
        assertBad(phantom().voxelOffset(352.5f), "but start at 352.5");
        assertBad(phantom().spacing(1, Double.NaN, 1), "pixdim[2] is NaN");
        assertBad(phantom().spacing(1, 1, 1e-30), "pixdim[3] is");
    }

    @Test
    void aFileThatIsNotASingleNifti1FileIsReportedAsWhatItIs() {
        assertBad(phantom().magic("ni1"), "it is the header of a .hdr/.img pair");
        assertBad(phantom().magic(""), "it is ANALYZE 7.5");
        assertBad(phantom().magic("huh"), "its magic number must be 6e2b3100, was 68756800");
        Phantom nifti2 = phantom();
        nifti2.file.putInt(0, 540);
        assertBad(nifti2, "its magic number must be 6e2b32000d0a1a0a, was 0000000000000000");
        Phantom other = phantom();
        other.file.putInt(0, 1);
        assertBad(other, "it must begin with the header's length, 348 or 540");
        assertThatThrownBy(() -> NiftiHeader.parse(Path.of("x"), ByteBuffer.allocate(12)))
                .hasMessage("x: not a valid NIfTI file: it must begin with the header's length, 348 or 540");
    }

    @Test
    void axesAreThoseOfTheSformElseOfTheQform() throws Exception {
        assertThat(phantom().header().orientation()).isEqualTo(Orientation.CANONICAL);
        assertThat(phantom().sform(-2, 0, 0, 0, 0, 3, 0, -1, 0.1).header().orientation())
                .isEqualTo(orientation(0, true, 2, true, 1, false));
        assertThat(phantom().qform(0, 1, 0, 1).header().orientation())
                .isEqualTo(orientation(0, true, 1, false, 2, true));
        assertThat(phantom().qform(0, 0, 0, -1).header().orientation())
                .isEqualTo(orientation(0, false, 1, false, 2, true));
        assertThat(phantom().sform(0, 0, 0, 0, 0, 0, 0, 0, 0).header().orientation())
                .isEqualTo(Orientation.CANONICAL);
    }

    private static Orientation orientation(int a, boolean notA, int b, boolean notB, int c, boolean notC) {
        return new Orientation(
                new Orientation.Axis(a, notA), new Orientation.Axis(b, notB), new Orientation.Axis(c, notC));
    }

    private static void assertBad(Phantom phantom, String fact) {
        assertThatThrownBy(phantom::header)
                .isInstanceOf(BadVolumeException.class)
                .hasMessageContaining(fact)
                .hasMessageNotContaining("\n");
    }
}
