// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.CRC32;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code .npy} and {@code .npz} as NumPy wrote them, held against what NumPy reads in them; and what is refused. */
class NumpyFilesTest {

    @TempDir
    Path folder;

    private static ArrayFile read(Path path) {
        return Objects.requireNonNull(Formats.read(path).block());
    }

    private static String line(String file, Array array) throws IOException {
        CRC32 crc = new CRC32();
        crc.update(bytes(array));
        return "%s %s %s %s %d %08x %s%s"
                .formatted(
                        file,
                        array.name(),
                        array.type(),
                        array.shape(),
                        array.bytes(),
                        crc.getValue(),
                        array.byteOrder() == ByteOrder.BIG_ENDIAN ? ">" : "<",
                        array.order() == Array.Order.COLUMN_MAJOR ? "F" : "C");
    }

    /** Returns the bytes of an array; of a compressed one, as the JDK inflates them. */
    private static byte[] bytes(Array array) throws IOException {
        if (!(array.data() instanceof Array.Data.Chunked chunked)) {
            return Real.bytes(array);
        }
        assertThat(chunked.chunkShape()).isEqualTo(array.shape());
        if (chunked.chunks().isEmpty()) {
            return new byte[0];
        }
        Array.ChunkData chunk = chunked.chunks().get(0);
        assertThat(chunked.chunks()).hasSize(1);
        assertThat(chunk.codecs()).hasSize(2).startsWith("npy");
        byte[] stored = Real.bytes(chunk.extent());
        try (InflaterInputStream in = new InflaterInputStream(new ByteArrayInputStream(stored), new Inflater(true))) {
            byte[] all = in.readAllBytes();
            return Arrays.copyOfRange(all, all.length - (int) array.bytes(), all.length);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "v1.npy", "v2.npy", "v3.npy", "fortran.npy", "big.npy", "big-fortran.npy", "scalar.npy", "empty.npy",
                "text.npy", "unicode.npy", "time.npy", "long.npy", "two.npy", "stored.npz", "deflated.npz", "zip64.npz"
            })
    void everyArrayIsWhatNumpyReads(String name) throws IOException {
        List<String> expected = Files.readAllLines(Real.file("numpy/expected.txt")).stream()
                .filter(line -> line.startsWith(name))
                .toList();
        ArrayFile file = read(Real.file("numpy/" + name));
        assertThat(file.format()).isEqualTo(name.substring(name.length() - 3));
        List<String> found = new ArrayList<>();
        for (Array array : file.arrays()) {
            found.add(line(name, array));
        }
        assertThat(found).containsExactlyInAnyOrderElementsOf(expected).isNotEmpty();
    }

    @Test
    void theFirstOfSeveralArraysIsReadAndTheRestIsNamed() {
        assertThat(read(Real.file("numpy/two.npy")).attributes()).containsEntry("trailing bytes", "148");
        assertThat(read(Real.file("numpy/v1.npy")).attributes()).isEmpty();
    }

    @Test
    void theFormatIsRecognizedWithoutTheName() throws IOException {
        for (String name : List.of("v1.npy", "stored.npz")) {
            Path copy = Files.copy(Real.file("numpy/" + name), folder.resolve(name.replace('.', '-')));
            assertThat(read(copy).arrays()).isNotEmpty();
        }
        Path zip = Files.copy(Real.file("numpy/stored.npz"), folder.resolve("any.zip"));
        assertThatThrownBy(() -> read(zip)).hasMessageContaining("it is a zip archive");
    }

    @Test
    void objectsAndStructuresAreRefused() throws IOException {
        assertThatThrownBy(() -> read(Real.file("numpy/object.bad")))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("Python objects are pickled, which is not supported");
        assertThatThrownBy(() -> read(Real.file("numpy/structure.bad")))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("arrays of structures are not supported (at character ");
    }

    @Test
    void aTypeWithoutAByteOrderIsLittleEndian() throws IOException {
        for (String descr : List.of(">u1", ">b1", ">S8", ">V4", "|S8")) {
            Path file = Files.write(
                    folder.resolve("a.npy"),
                    npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (1,), }", 8));
            assertThat(read(file).arrays().get(0).byteOrder()).as(descr).isEqualTo(ByteOrder.LITTLE_ENDIAN);
        }
        Path text = Files.write(
                folder.resolve("a.npy"), npy("{'descr': '>U2', 'fortran_order': False, 'shape': (1,), }", 8));
        assertThat(read(text).arrays().get(0).byteOrder()).isEqualTo(ByteOrder.BIG_ENDIAN);
    }

    private static byte[] npy(String dictionary, int data) {
        byte[] text = dictionary.getBytes(StandardCharsets.ISO_8859_1);
        return ByteBuffer.allocate(10 + text.length + data)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0})
                .putShort((short) text.length)
                .put(text)
                .array();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '#',
            quoteCharacter = '`',
            value = {
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3,)} # the data at byte 65 takes 12 bytes",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (3)} # a tuple of one number must have a comma",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 2)} # overflow",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)} # that a file can hold",
                "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)} # expected a whole number",
                "{'descr': '<f4', 'fortran_order': 1, 'shape': ()} # expected True or False",
                "{'descr': '<f4', 'shape': ()} # must have descr, fortran_order and shape",
                "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()} # the key descr twice",
                "{'descr': '<f4', 'other': 1} # unknown key other",
                "{'descr': '<f4' 'fortran_order': False} # expected a comma",
                "{'descr': '<f4', 'fortran_order': False, 'shape': ()} x # more after the end",
                "`{'descr': '<f4', 'fortran_order': False, 'shape': ()} \u001c` # more after the end",
                "{'descr': '<f3', 'fortran_order': False, 'shape': ()} # unknown type '<f3'",
                "{'descr': '<M8[foo]', 'fortran_order': False, 'shape': ()} # unknown type '<M8[foo]'",
                "{'descr': '<float32', 'fortran_order': False, 'shape': ()} # unknown type '<float32'",
                "{'descr': '<U999999999', 'fortran_order': False, 'shape': ()} # unknown type",
                "{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': ()} # a shape of their own",
                "{'descr': '<f4 # a string must end",
                "[] # expected {",
                "{'descr': '<f4', 'fortran_order': False, 'shape': 4} # expected ( where the shape starts",
            })
    void aWrongDictionaryIsRefused(String dictionary, String complaint) throws IOException {
        Path file = Files.write(folder.resolve("bad.npy"), npy(dictionary, 0));
        assertThatThrownBy(() -> read(file))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(complaint);
    }

    @Test
    void wrongStartsAreRefused() throws IOException {
        byte[] good = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12);
        Path file = folder.resolve("a.npy");
        Files.write(file, good);
        assertThat(read(file).arrays()).hasSize(1);
        assertRefused(file, good, 0, 0, "must begin with \\x93NUMPY");
        assertRefused(file, good, 6, 4, "version 4.0 is not supported");
        assertRefused(file, good, 7, 1, "version 1.1 is not supported");
        assertRefused(file, good, 9, 0xff, "the header's length must be at most 10000, was 65337");
        assertRefused(file, good, 9, 1, "the header at byte 10 takes 313 bytes, but the file ends after 69");
        Files.write(file, Arrays.copyOf(good, 7));
        assertThatThrownBy(() -> read(file)).hasMessageContaining("the magic number at byte 0 takes 8 bytes");
    }

    private static void assertRefused(Path file, byte[] good, int at, int value, String complaint) throws IOException {
        byte[] bad = good.clone();
        bad[at] = (byte) value;
        Files.write(file, bad);
        assertThatThrownBy(() -> read(file))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(complaint);
    }

    @Test
    void wrongZipsAreRefused() throws IOException {
        Path file = folder.resolve("a.npz");
        byte[] data = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12);
        assertThat(read(Files.write(file, zip("a.npy", data))).arrays()).hasSize(1);
        assertZip(Arrays.copyOf(data, data.length - 4), "its shape [3] of F32 takes 12 bytes after a header of 67");
        assertZip(new byte[3], "member a.npy: the magic number takes 8 bytes, but it ends after 3");
        byte[] good = zip("a.npy", data);
        Files.write(file, Arrays.copyOf(good, good.length - 1));
        assertThatThrownBy(() -> read(file)).hasMessageContaining("it has no end of a central directory");
        ByteBuffer bytes = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(good.length - 22 + 16, good.length);
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> read(file)).hasMessageContaining("its central directory would have 1 members in");
        bytes = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putShort(good.length - 22 + 10, (short) 1000);
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> read(file)).hasMessageContaining("members: 1000 of at least 46 bytes each cannot be");
        bytes = ByteBuffer.wrap(good.clone()).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(bytes.getInt(good.length - 22 + 16) + 20, 1000);
        Files.write(file, bytes.array());
        assertThatThrownBy(() -> read(file)).hasMessageContaining("member a.npy takes 1000 bytes at");
    }

    /** Returns a zip file of a member that is not compressed, whose header has its sizes. */
    private static byte[] stored(String name, byte[] member) throws IOException {
        CRC32 sum = new CRC32();
        sum.update(member);
        ZipEntry entry = new ZipEntry(name);
        entry.setMethod(ZipEntry.STORED);
        entry.setSize(member.length);
        entry.setCrc(sum.getValue());
        var bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            zip.putNextEntry(entry);
            zip.write(member);
        }
        return bytes.toByteArray();
    }

    private Path zip(Map<String, byte[]> members) throws IOException {
        Path file = folder.resolve("m.npz");
        try (ZipOutputStream zip = new ZipOutputStream(Files.newOutputStream(file))) {
            for (Map.Entry<String, byte[]> member : members.entrySet()) {
                zip.putNextEntry(new ZipEntry(member.getKey()));
                zip.write(member.getValue());
            }
        }
        return file;
    }

    /** NumPy reads the arrays of such a file too; but a zip file of something else is none of its own. */
    @Test
    void membersThatAreNoArraysAreNamedAndLeftOut() throws IOException {
        byte[] array = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12);
        byte[] text = "a text of some length".getBytes(StandardCharsets.US_ASCII);
        ArrayFile file = read(zip(Map.of("a.npy", array, "b", array, "README", text, "folder/", new byte[0])));
        assertThat(file.arrays()).extracting(Array::name).containsExactlyInAnyOrder("a", "b");
        assertThat(file.attributes()).containsOnlyKeys("README", "folder/");
        assertThatThrownBy(() -> read(zip(Map.of("README", text))))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("none of its members is an array");
        ArrayFile one = read(zip(Map.of("a.npy", array, "b.npy", text)));
        assertThat(one.arrays()).extracting(Array::name).containsExactly("a");
        assertThat(one.leftOut())
                .hasEntrySatisfying("b", reason -> assertThat(reason).contains("member b.npy: it must begin with"));
    }

    /** The header is what {@code numpy.dtype} takes. */
    @ParameterizedTest
    @CsvSource({
        "f4, F32", "=f4, F32", "|f4, F32", "float32, F32", "f, F32", "<f, F32", ">f, F32", "?, BOOL", "bool, BOOL",
                "b, I8", "B, U8",
        "<l, I64", "L, U64", "<d, F64", "d, F64", "e, F16", "<i, I32", "H, U16", "F, C64", "complex128, C128",
                "int, I64", "uint8, U8",
        "S3, S3", "=U2, U2", "<m8[25us], TIMEDELTA64[25us]", "M8[D], DATETIME64[D]"
    })
    void aTypeHasManySpellings(String descr, String type) throws IOException {
        byte[] npy = npy("{u'descr': u'" + descr + "', U\"fortran_order\": False, 'shape': (2L,), }", 32);
        Array array = read(Files.write(folder.resolve("a.npy"), npy)).arrays().get(0);
        assertThat(array.type()).hasToString(type);
        assertThat(array.byteOrder() == ByteOrder.BIG_ENDIAN).isEqualTo(descr.startsWith(">"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"<U0", "|S0", "S", "U"})
    void textsOfNoBytesAreAnEmptyArray(String descr) throws IOException {
        byte[] npy = npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (2,), }", 0);
        assertThat(read(Files.write(folder.resolve("a.npy"), npy))
                        .arrays()
                        .get(0)
                        .shape())
                .containsExactly(2L, 0L);
    }

    /** The directory has each name, sum and size a second time. */
    @ParameterizedTest
    @ValueSource(ints = {14, 18, 22, 30}) // of the local header: sum, stored, length, name
    void aLocalHeaderIsComparedWithTheDirectory(int at) throws IOException {
        byte[] array = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12);
        byte[] zip = stored("a.npy", array);
        assertThat(read(Files.write(folder.resolve("a.npz"), zip)).arrays()).hasSize(1);
        zip[at] ^= 1;
        assertThatThrownBy(() -> read(Files.write(folder.resolve("a.npz"), zip)))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("differs from its entry in the central directory");
    }

    /** A member that was streamed has its sum and sizes behind its bytes, marked or not. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatFollowsAStreamedMemberIsComparedWithTheDirectory(boolean marked) throws IOException {
        byte[] array = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12);
        byte[] zip = stored("a.npy", array);
        int end = 30 + 5 + array.length;
        ByteBuffer local = ByteBuffer.wrap(zip).order(ByteOrder.LITTLE_ENDIAN);
        int added = marked ? 16 : 12;
        ByteBuffer later = ByteBuffer.allocate(zip.length + added).order(ByteOrder.LITTLE_ENDIAN);
        later.put(zip, 0, end);
        if (marked) {
            later.putInt(0x08074b50);
        }
        later.put(zip, 14, 12).put(zip, end, zip.length - end);
        later.putShort(6, (short) (local.getShort(6) | 8))
                .putInt(14, 0)
                .putInt(18, 0)
                .putInt(22, 0);
        int directory = end + added;
        later.putShort(directory + 8, (short) (later.getShort(directory + 8) | 8));
        later.putInt(later.capacity() - 6, directory);
        Path path = Files.write(folder.resolve("later.npz"), later.array());
        assertThat(read(path).arrays()).hasSize(1);
        for (int at = directory - 12; at < directory; at++) {
            byte[] changed = later.array().clone();
            changed[at] ^= 1;
            assertThatThrownBy(() -> read(Files.write(path, changed)))
                    .isInstanceOf(MalformedFileException.class)
                    .hasMessageContaining("what follows member a.npy differs");
        }
    }

    /** Each byte of each member, with the comparison of {@code load --verify}, and where it is converted on the way. */
    @Test
    void theSumOfAStoredMemberIsComparedWhereItPassesTheHost() throws IOException {
        byte[] array = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12);
        byte[] stored = stored("a.npy", array);
        Path path = Files.write(folder.resolve("stored.npz"), stored);
        try (Backend backend = Backends.open("host")) {
            LoaderTest.get(Loader.of(backend).brainFloats().load(path)).close();
            stored[30 + 5 + array.length - 1] ^= 1;
            Files.write(path, stored);
            LoaderTest.get(Loader.of(backend).load(path)).close(); // straight
            for (Loader loader :
                    List.of(Loader.of(backend).brainFloats(), Loader.of(backend).slice(Slice.rows(0, 3)))) {
                LoadPlan.Placement placement = Objects.requireNonNull(
                                loader.explain(path).block())
                        .arrays()
                        .get(0);
                assertThatThrownBy(() -> placement.contents(part -> {}))
                        .isInstanceOf(MalformedFileException.class)
                        .hasMessageContaining("the CRC-32 of member a.npy must be");
            }
            assertThatThrownBy(() ->
                            LoaderTest.get(Loader.of(backend).brainFloats().load(path)))
                    .isInstanceOf(MalformedFileException.class);
        }
    }

    /** As savez writes it beside arrays of numbers, for a dictionary for example; NumPy reads the others. */
    @Test
    void membersThatAreNotSupportedAreNamedAndLeftOut() throws IOException {
        byte[] array = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 12);
        byte[] objects = Files.readAllBytes(Real.file("numpy/object.bad"));
        byte[] structures = Files.readAllBytes(Real.file("numpy/structure.bad"));
        Path path = zip(Map.of("a.npy", array, "o.npy", objects, "s.npy", structures));
        ArrayFile file = read(path);
        assertThat(file.arrays()).extracting(Array::name).containsExactly("a");
        assertThat(file.attributes()).isEmpty();
        assertThat(file.leftOut())
                .containsOnlyKeys("o", "s")
                .containsEntry("o", "not supported: arrays of Python objects are pickled, which is not supported");
        assertThat(file.leftOut().get("s"))
                .startsWith("not supported: arrays of structures are not supported (at character ");
        try (Backend backend = Backends.open("host")) {
            assertThatThrownBy(
                            () -> LoaderTest.get(Loader.of(backend).arrays("o").load(path)))
                    .hasMessageContaining("array o of " + path + " cannot be read: ")
                    .hasMessageContaining("Python objects are pickled");
        }
        assertThatThrownBy(() -> read(zip(Map.of("o.npy", objects))))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining("such as o, not supported: arrays of Python objects are pickled");
    }

    /** As Python's zipfile writes them: the number is no mark there, since no locator is in front of it. */
    @Test
    void asManyMembersAsSixteenBitsHoldNeedNoLocator() throws IOException {
        byte[] array = npy("{'descr': '<f4', 'fortran_order': False, 'shape': (0,), }", 0);
        CRC32 sum = new CRC32();
        sum.update(array);
        Path path = folder.resolve("many.npz");
        int locals = 65_535 * (30 + 9 + array.length);
        ByteBuffer zip = ByteBuffer.allocate(locals + 65_535 * (46 + 9) + 22).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 65_535; i++) {
            zip.putInt(0x04034b50).putShort((short) 20).putInt(0).putInt(0).putInt((int) sum.getValue());
            zip.putInt(array.length).putInt(array.length).putShort((short) 9).putShort((short) 0);
            zip.put(String.format("%05d.npy", i).getBytes(StandardCharsets.US_ASCII))
                    .put(array);
        }
        for (int i = 0; i < 65_535; i++) {
            zip.putInt(0x02014b50).putInt(20 << 16 | 20).putInt(0).putInt(0).putInt((int) sum.getValue());
            zip.putInt(array.length).putInt(array.length).putShort((short) 9).putInt(0);
            zip.putLong(0).putInt(i * (30 + 9 + array.length));
            zip.put(String.format("%05d.npy", i).getBytes(StandardCharsets.US_ASCII));
        }
        zip.putInt(0x06054b50).putInt(0).putShort((short) -1).putShort((short) -1);
        zip.putInt(65_535 * (46 + 9)).putInt(locals).putShort((short) 0);
        assertThat(read(Files.write(path, zip.array())).arrays()).hasSize(65_535);
    }

    private void assertZip(byte[] member, String complaint) throws IOException {
        Path file = Files.write(folder.resolve("bad.npz"), zip("a.npy", member));
        assertThatThrownBy(() -> read(file))
                .isInstanceOf(MalformedFileException.class)
                .hasMessageContaining(complaint);
    }

    private static byte[] zip(String name, byte[] member) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
            ZipEntry entry = new ZipEntry(name);
            zip.putNextEntry(entry);
            zip.write(member);
        }
        return bytes.toByteArray();
    }
}
