// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Array;
import io.penstock.formats.ArrayFile;
import io.penstock.formats.Extent;
import io.penstock.formats.FormatOption;
import io.penstock.formats.MalformedFileException;
import io.penstock.formats.codec.Codecs;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * NumPy's {@code .npz}: a zip file of {@code .npy} members. A stored member is an array without gaps; a compressed one
 * is one chunk, whose bytes passed through {@code npy}, which prepends the header, and {@code deflate}.
 */
public final class NpzReader implements FormatReader {

    /** What messages call the format. */
    public static final String FORMAT = "npz";

    private static final int LOCAL_HEADER = 0x04034b50; // of a member
    private static final int LOCAL_BYTES = 30;
    private static final int PART_BYTES = 1 << 20; // of a sum, at a time
    private static final int MOST_START = 6 + 2 + 4 + NpyHeader.MOST_TEXT_BYTES; // of a member: its header

    @Override
    public boolean recognizes(Path path, byte[] start) {
        boolean zip = start.length >= 4
                && start[0] == 'P'
                && start[1] == 'K'
                && (start[2] == 3 && start[3] == 4 || start[2] == 5 && start[3] == 6); // the second: without members
        String name = path.toString().toLowerCase(Locale.ROOT);
        return name.endsWith(".npz") && start.length > 0 || zip && !name.endsWith(".zip");
    }

    @Override
    public ArrayFile read(Path path, Set<FormatOption> permitted) throws IOException {
        try (HeaderBytes bytes = HeaderBytes.of(path, FORMAT)) {
            List<Array> arrays = new ArrayList<>();
            Map<String, String> attributes = new LinkedHashMap<>();
            Map<String, String> unsupported = new LinkedHashMap<>();
            Map<String, String> damaged = new LinkedHashMap<>();
            for (ZipMembers.Member member : ZipMembers.of(bytes)) {
                try {
                    if (isArray(bytes, member)) {
                        arrays.add(array(bytes, path, member));
                    } else {
                        attributes.put(member.name(), "not an array: " + member.length() + " bytes");
                    }
                } catch (Unsupported e) {
                    unsupported.put(NpyReader.name(member.name()), "not supported: " + e.getMessage());
                } catch (MalformedFileException e) {
                    damaged.put(NpyReader.name(member.name()), String.valueOf(e.getMessage()));
                }
            }
            Optional<Map.Entry<String, String>> any = Stream.of(unsupported, damaged, attributes)
                    .flatMap(members -> members.entrySet().stream())
                    .findFirst();
            if (arrays.isEmpty() && any.isPresent()) {
                Map.Entry<String, String> first = any.get();
                boolean checkpoint = attributes.keySet().stream().anyMatch(name -> name.endsWith("data.pkl"));
                throw bytes.unsupported("none of its members is an array that can be read, such as " + first.getKey()
                        + ", " + first.getValue()
                        + (checkpoint ? "; it is a checkpoint of PyTorch: convert it, to safetensors" : ""));
            }
            return new ArrayFile(path, FORMAT, attributes, arrays, unsupported, damaged);
        } catch (IllegalArgumentException e) { // a name twice
            throw new MalformedFileException(path, FORMAT, String.valueOf(e.getMessage()));
        }
    }

    /** As for NumPy: what begins as an array is one, and what is named as one must be. */
    private static boolean isArray(HeaderBytes bytes, ZipMembers.Member member) throws IOException {
        boolean known =
                !member.encrypted() && (member.method() == ZipMembers.STORED || member.method() == ZipMembers.DEFLATED);
        return NpyReader.isNamed(member.name()) || known && NpyHeader.starts(start(bytes, member).start);
    }

    private static Array array(HeaderBytes bytes, Path path, ZipMembers.Member member) throws IOException {
        if (member.method() != ZipMembers.STORED && member.method() != ZipMembers.DEFLATED) {
            throw new Unsupported("it is compressed by method " + member.method() + " of zip");
        }
        if (member.encrypted()) {
            throw new Unsupported("it is encrypted");
        }
        Start start = start(bytes, member);
        NpyHeader header = NpyHeader.read(start);
        long length = header.dataBytes(start);
        if (header.bytes() + length != member.length()) {
            throw start.malformed("its shape " + header.shape() + " of " + header.type() + " takes " + length
                    + " bytes after a header of " + header.bytes() + ", but it has " + member.length());
        }
        String name = NpyReader.name(member.name());
        if (member.method() == ZipMembers.STORED) {
            return header.array(name, new Extent(path, member.offset() + header.bytes(), length));
        }
        List<Long> position = Collections.nCopies(header.shape().size(), 0L);
        Array.ChunkData chunk = new Array.ChunkData(
                position,
                new Extent(path, member.offset(), member.stored()),
                List.of("npy", Codecs.deflate(member.sum())));
        return header.array(
                name,
                new Array.Data.Chunked(header.shape(), List.of(), length == 0 ? List.of() : List.of(chunk), List.of()));
    }

    /**
     * Compares a member that is stored with its CRC-32: the member that ends with those bytes, if it is one of a zip
     * file. Reads all of it.
     */
    public static void checkSum(Extent array) throws IOException {
        try (HeaderBytes bytes = new HeaderBytes(array.file(), FORMAT)) {
            int start = bytes.length() < LOCAL_BYTES ? 0 : (int) bytes.u32("the start");
            Optional<ZipMembers.Member> found =
                    start == LOCAL_HEADER ? ZipMembers.stored(bytes, array) : Optional.empty();
            if (found.isPresent()) {
                ZipMembers.Member member = found.get();
                CRC32 sum = new CRC32();
                bytes.seek(member.offset(), member.name());
                for (long left = member.stored(); left > 0; ) {
                    byte[] part = bytes.bytes((int) Math.min(left, PART_BYTES), member.name());
                    sum.update(part);
                    left -= part.length;
                }
                if ((int) sum.getValue() != member.sum()) {
                    throw bytes.malformed("the CRC-32 of member " + member.name()
                            + " must be %08x, was %08x".formatted(member.sum(), sum.getValue()));
                }
            }
        }
    }

    /** Returns the first bytes of a member, enough for its header. */
    private static Start start(HeaderBytes bytes, ZipMembers.Member member) throws IOException {
        bytes.seek(member.offset(), "member " + member.name());
        byte[] stored = bytes.bytes((int) Math.min(member.stored(), MOST_START), "member " + member.name());
        if (member.method() == ZipMembers.STORED) {
            return new Start(bytes, member.name(), stored);
        }
        Inflater inflater = new Inflater(true);
        try {
            inflater.setInput(stored);
            byte[] start = new byte[MOST_START];
            int count = 0;
            int inflated = 1;
            while (count < start.length && inflated > 0) { // 0 at the end, and if the header needs more than that
                inflated = inflater.inflate(start, count, start.length - count);
                count += inflated;
            }
            return new Start(bytes, member.name(), Arrays.copyOf(start, count));
        } catch (DataFormatException e) {
            throw bytes.malformed("member " + member.name() + " is not valid deflate data: " + e.getMessage());
        } finally {
            inflater.end();
        }
    }

    /** An array that NumPy has pickled, or of structures: other members may be read. */
    private static final class Unsupported extends RuntimeException {

        private static final long serialVersionUID = 1;

        Unsupported(String complaint) {
            super(complaint);
        }
    }

    /** The first bytes of a member. */
    private static final class Start implements NpyHeader.Source {

        private final HeaderBytes file;
        private final String member;
        private final byte[] start;
        private int at;

        Start(HeaderBytes file, String member, byte[] start) {
            this.file = file;
            this.member = member;
            this.start = start;
        }

        @Override
        public byte[] bytes(int count, String what) {
            if (count > start.length - at) {
                throw malformed(what + " takes " + count + " bytes, but it ends after " + (start.length - at));
            }
            at += count;
            return Arrays.copyOfRange(start, at - count, at);
        }

        @Override
        public RuntimeException unsupported(String complaint) {
            return new Unsupported(complaint);
        }

        @Override
        public MalformedFileException malformed(String complaint) {
            return file.malformed("member " + member + ": " + complaint);
        }
    }
}
