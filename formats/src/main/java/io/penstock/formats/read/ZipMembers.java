// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.Extent;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The members of a zip file, with the places of their bytes, which {@link java.util.zip} does not report. Read from the
 * central directory (PKWARE's APPNOTE.TXT 6.3); zip64 is supported, several disks and encryption are not.
 */
final class ZipMembers {

    /**
     * A member of the file.
     *
     * @param method the compression: {@link #STORED}, {@link #DEFLATED}, or another
     * @param offset where its bytes start
     * @param stored the bytes in the file
     * @param length the bytes once decompressed
     * @param sum the CRC-32 of those
     * @param encrypted whether a key is needed to read them
     */
    record Member(String name, int method, long offset, long stored, long length, int sum, boolean encrypted) {}

    static final int STORED = 0;
    static final int DEFLATED = 8;

    private static final int LOCAL = 0x04034b50;
    private static final int CENTRAL = 0x02014b50;
    private static final int END = 0x06054b50;
    private static final int END_64_LOCATOR = 0x07064b50;
    private static final int END_64 = 0x06064b50;
    private static final int LOCAL_BYTES = 30;
    private static final int LATER = 0x08074b50; // an optional mark
    private static final int LATER_MARK_BYTES = 4;
    private static final int LATER_BYTES = 12;
    private static final int LATER_64_BYTES = 20;
    private static final int CENTRAL_BYTES = 46;
    private static final int END_BYTES = 22;
    private static final int END_64_BYTES = 56;
    private static final int LOCATOR_BYTES = 20;
    private static final int MOST_COMMENT = 0xffff;
    private static final int SIZES_64 = 1; // the extra field
    private static final int FLAG_ENCRYPTED = 1;
    private static final int FLAG_LATER = 1 << 3; // sum and sizes are behind the bytes
    private static final int FLAG_UTF8 = 1 << 11;
    private static final long MANY = 0xffffffffL; // of 32 bits: the number is in the extra field
    private static final int MANY_SHORT = 0xffff;

    private final HeaderBytes bytes;

    private ZipMembers(HeaderBytes bytes) {
        this.bytes = bytes;
    }

    /** Returns the members in the order of their bytes, which do not overlap. */
    static List<Member> of(HeaderBytes bytes) throws IOException {
        return new ZipMembers(bytes).read();
    }

    /** Where the central directory starts and ends, and how many members it has. */
    private record Directory(long start, long end, long count) {}

    /** Returns the stored member whose bytes end with the bytes of an array, if there is one. */
    static Optional<Member> stored(HeaderBytes bytes, Extent array) throws IOException {
        ZipMembers members = new ZipMembers(bytes);
        List<Member> all = members.directoryEntries(members.directory());
        for (int i = all.size() - 1; i >= 0; i--) {
            if (all.get(i).offset <= array.offset()) {
                Member member = members.local(all.get(i), bytes.length());
                boolean found = member.method == STORED && member.offset + member.stored == array.end();
                return found ? Optional.of(member) : Optional.empty();
            }
        }
        return Optional.empty();
    }

    private List<Member> read() throws IOException {
        Directory directory = directory();
        List<Member> members = directoryEntries(directory);
        List<Member> placed = new ArrayList<>();
        for (int i = 0; i < members.size(); i++) {
            long limit = i + 1 < members.size() ? members.get(i + 1).offset : directory.start;
            placed.add(local(members.get(i), limit));
        }
        return placed;
    }

    private List<Member> directoryEntries(Directory directory) throws IOException {
        bytes.seek(directory.start, "the central directory");
        bytes.requireRoomFor(directory.count, CENTRAL_BYTES, "members");
        List<Member> members = new ArrayList<>();
        for (long i = 0; i < directory.count; i++) {
            members.add(central("member " + i));
            if (bytes.position() > directory.end) {
                throw bytes.malformed("the central directory is longer than the " + (directory.end - directory.start)
                        + " bytes that it must have");
            }
        }
        if (bytes.position() != directory.end) {
            throw bytes.malformed(
                    "the central directory ends at " + bytes.position() + ", but must end at " + directory.end);
        }
        members.sort(Comparator.comparingLong(Member::offset));
        return members;
    }

    private Directory directory() throws IOException {
        int most = (int) Math.min(bytes.length(), END_BYTES + MOST_COMMENT);
        long tailStart = bytes.length() - most;
        bytes.seek(tailStart, "the end of the central directory");
        ByteBuffer tail = buffer(most, "the end of the central directory");
        for (int at = most - END_BYTES; at >= 0; at--) {
            boolean found = tail.getInt(at) == END
                    && Short.toUnsignedInt(tail.getShort(at + 20))
                            == most - at - END_BYTES; // the comment fills the rest
            if (found) {
                return directory(tail, at, tailStart + at);
            }
        }
        throw bytes.malformed("it has no end of a central directory");
    }

    private Directory directory(ByteBuffer tail, int at, long endStart) throws IOException {
        int count = Short.toUnsignedInt(tail.getShort(at + 10));
        long length = Integer.toUnsignedLong(tail.getInt(at + 12));
        long start = Integer.toUnsignedLong(tail.getInt(at + 16));
        if (tail.getInt(at + 4) != 0) {
            throw bytes.unsupported("it is part of an archive on several disks");
        }
        // Some writers have no locator where the number itself is as large as the mark.
        if ((count == MANY_SHORT || length == MANY || start == MANY) && hasLocator(endStart)) {
            return directory64(endStart);
        }
        return checked(start, length, count, endStart);
    }

    private boolean hasLocator(long endStart) throws IOException {
        if (endStart < LOCATOR_BYTES) {
            return false;
        }
        bytes.seek(endStart - LOCATOR_BYTES, "the zip64 locator");
        return (int) bytes.u32("the zip64 locator") == END_64_LOCATOR;
    }

    private Directory directory64(long endStart) throws IOException {
        bytes.seek(endStart - LOCATOR_BYTES + Integer.BYTES, "the zip64 locator");
        bytes.u32("a disk");
        long at = bytes.u63("the zip64 end of the central directory");
        bytes.seek(at, "the zip64 end of the central directory");
        ByteBuffer end = buffer(END_64_BYTES, "the zip64 end of the central directory");
        if (end.getInt(0) != END_64) {
            throw bytes.malformed("byte " + at + " must be the zip64 end of the central directory");
        }
        return checked(end.getLong(48), end.getLong(40), end.getLong(32), at);
    }

    private Directory checked(long start, long length, long count, long limit) {
        if (start < 0 || length < 0 || count < 0 || start > limit || length > limit - start) {
            throw bytes.malformed("its central directory would have " + Long.toUnsignedString(count) + " members in "
                    + Long.toUnsignedString(length) + " bytes at " + Long.toUnsignedString(start) + ", but must end by "
                    + limit);
        }
        return new Directory(start, start + length, count);
    }

    /** Returns a member with the offset of its local header. */
    private Member central(String what) throws IOException {
        ByteBuffer entry = buffer(CENTRAL_BYTES, what);
        if (entry.getInt(0) != CENTRAL) {
            throw bytes.malformed(what + " has no entry in the central directory");
        }
        int flags = Short.toUnsignedInt(entry.getShort(8));
        byte[] name = bytes.bytes(Short.toUnsignedInt(entry.getShort(28)), "the name of " + what);
        ByteBuffer extra = buffer(Short.toUnsignedInt(entry.getShort(30)), "the extra fields of " + what);
        bytes.skip(Short.toUnsignedInt(entry.getShort(32)), "the comment of " + what);
        // CP437 where the flag is not set, of which ASCII is a part
        String text = text(name, flags);
        long[] sizes = { // in the order of the extra field: length, stored, offset
            Integer.toUnsignedLong(entry.getInt(24)),
            Integer.toUnsignedLong(entry.getInt(20)),
            Integer.toUnsignedLong(entry.getInt(42))
        };
        sizes64(extra, sizes, text);
        return new Member(
                text,
                Short.toUnsignedInt(entry.getShort(10)),
                sizes[2],
                sizes[1],
                sizes[0],
                entry.getInt(16),
                (flags & FLAG_ENCRYPTED) != 0);
    }

    private static String text(byte[] name, int flags) {
        return new String(name, (flags & FLAG_UTF8) != 0 ? StandardCharsets.UTF_8 : StandardCharsets.ISO_8859_1);
    }

    private void sizes64(ByteBuffer extra, long[] sizes, String name) {
        while (extra.remaining() >= 4) {
            int id = Short.toUnsignedInt(extra.getShort());
            int length = Short.toUnsignedInt(extra.getShort());
            if (length > extra.remaining()) {
                throw bytes.malformed("an extra field of member " + name + " is longer than all of them");
            }
            int next = extra.position() + length;
            for (int i = 0; id == SIZES_64 && i < sizes.length; i++) {
                if (sizes[i] == MANY && next - extra.position() >= Long.BYTES) {
                    sizes[i] = extra.getLong();
                }
            }
            extra.position(next);
        }
        if (sizes[0] < 0 || sizes[1] < 0 || sizes[2] < 0) {
            throw bytes.malformed("member " + name + " has a size that no file can have");
        }
    }

    /** Returns the member with the offset of its bytes, which must end by {@code limit}. */
    private Member local(Member member, long limit) throws IOException {
        String what = "the header of member " + member.name;
        bytes.seek(member.offset, what);
        ByteBuffer header = buffer(LOCAL_BYTES, what);
        if (header.getInt(0) != LOCAL || Short.toUnsignedInt(header.getShort(8)) != member.method) {
            throw bytes.malformed("at byte " + member.offset + " must be " + what);
        }
        compare(member, header, what);
        long start = bytes.position();
        if (start > limit || member.stored > limit - start) {
            throw bytes.malformed(String.format(
                    Locale.ROOT,
                    "member %s takes %d bytes at %d, but what follows starts at %d",
                    member.name,
                    member.stored,
                    start,
                    limit));
        }
        if (member.method == STORED && member.stored != member.length) {
            throw bytes.malformed(
                    "member " + member.name + " is stored in " + member.stored + " bytes, but has " + member.length);
        }
        if ((Short.toUnsignedInt(header.getShort(6)) & FLAG_LATER) != 0) {
            compareLater(member, start + member.stored, limit);
        }
        return new Member(
                member.name, member.method, start, member.stored, member.length, member.sum, member.encrypted);
    }

    /**
     * Compares what follows the bytes of a member that was streamed: sum and sizes of 4 or 8 bytes, marked or not; some
     * leave them out.
     */
    private void compareLater(Member member, long start, long limit) throws IOException {
        int most = (int) Math.min(limit - start, LATER_MARK_BYTES + LATER_64_BYTES);
        if (most < LATER_BYTES) {
            return;
        }
        bytes.seek(start, "the end of member " + member.name);
        ByteBuffer found = buffer(most, "the end of member " + member.name);
        int at = found.getInt(0) == LATER ? LATER_MARK_BYTES : 0;
        if (isSaid(member, found, at) || isSaid(member, found, 0)) { // a sum may look like the mark
            return;
        }
        throw bytes.malformed("what follows member " + member.name
                + " differs from its entry in the central directory: "
                + "it must be the CRC-32 %08x, ".formatted(member.sum) + member.stored + " and " + member.length);
    }

    private static boolean isSaid(Member member, ByteBuffer found, int at) {
        int left = found.limit() - at;
        return left >= LATER_BYTES
                && found.getInt(at) == member.sum
                && (found.getInt(at + 4) == (int) member.stored && found.getInt(at + 8) == (int) member.length
                        || left >= LATER_64_BYTES
                                && found.getLong(at + 4) == member.stored
                                && found.getLong(at + 12) == member.length);
    }

    /**
     * Compares the local header with the directory's; of a member that was streamed, sum and sizes may follow its
     * bytes.
     */
    private void compare(Member member, ByteBuffer header, String what) throws IOException {
        int flags = Short.toUnsignedInt(header.getShort(6));
        String name = text(bytes.bytes(Short.toUnsignedInt(header.getShort(26)), what), flags);
        ByteBuffer extra = buffer(Short.toUnsignedInt(header.getShort(28)), what);
        long[] sizes = {Integer.toUnsignedLong(header.getInt(22)), Integer.toUnsignedLong(header.getInt(18)), 0};
        sizes64(extra, sizes, member.name);
        int sum = header.getInt(14);
        boolean later = (flags & FLAG_LATER) != 0;
        boolean same = name.equals(member.name)
                && (flags & FLAG_ENCRYPTED) != 0 == member.encrypted
                && (sum == member.sum || later && sum == 0)
                && (sizes[0] == member.length || later && (sizes[0] == 0 || sizes[0] == MANY))
                && (sizes[1] == member.stored || later && (sizes[1] == 0 || sizes[1] == MANY));
        if (!same) {
            throw bytes.malformed(what + " differs from its entry in the central directory: " + name + " of " + sizes[1]
                    + " bytes, " + sizes[0] + " decompressed, with the CRC-32 %08x, but ".formatted(sum) + member.stored
                    + ", " + member.length + " and %08x there".formatted(member.sum));
        }
    }

    private ByteBuffer buffer(int count, String what) throws IOException {
        return ByteBuffer.wrap(bytes.bytes(count, what)).order(ByteOrder.LITTLE_ENDIAN);
    }
}
