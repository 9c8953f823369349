// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.FormatOption;
import io.penstock.formats.MalformedFileException;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;

/**
 * The start of a little-endian file, read from front to back through a small buffer. Every length is checked against
 * what is left of the file before memory is allocated for it. Not thread-safe.
 */
public final class HeaderBytes implements NpyHeader.Source, AutoCloseable {

    private static final int WINDOW = 1 << 16;
    private static final int S_IFMT = 0170000; // of st_mode, as inode(7) has them
    private static final int S_IFIFO = 0010000;

    private final Path path;
    private final String format;
    private final SeekableByteChannel channel;
    private final long length;
    private final ByteBuffer window = ByteBuffer.allocate(WINDOW).order(ByteOrder.LITTLE_ENDIAN);
    private long windowEnd; // where the window ends in the file

    /** Opens a file; {@code format} is what complaints call it. */
    public HeaderBytes(Path path, String format) throws IOException {
        this.path = path;
        this.format = format;
        refusePipe(path);
        if (Files.isDirectory(path)) { // opening it succeeds, only reading fails, without its name
            throw new FileSystemException(path.toString(), null, "a folder is not a file of arrays");
        }
        channel = Files.newByteChannel(path);
        try {
            length = channel.size();
        } catch (IOException | RuntimeException e) {
            try (channel) {
                throw e; // also if the close fails
            }
        }
        window.limit(0);
    }

    /** Opens a file that is read from its start, and refuses another thing in its place. */
    @SuppressWarnings("MustBeClosedChecker")
    static HeaderBytes of(Path path, String format) throws IOException {
        HeaderBytes bytes = new HeaderBytes(path, format);
        try {
            byte[] start = new byte[(int) Math.min(bytes.length, FileStart.BYTES)];
            bytes.next(start.length, "the start").get(0, start); // what follows is read from the same window
            String other = FileStart.other(start, bytes.length, format);
            if (other != null) {
                throw bytes.malformed(other);
            }
            return bytes;
        } catch (IOException | RuntimeException e) {
            try (bytes) {
                throw e; // also if the close fails
            }
        }
    }

    /** Returns all bytes of a file, which must be at most {@code most}. */
    static byte[] all(Path path, String format, long most, String what) throws IOException {
        try (HeaderBytes bytes = of(path, format)) {
            if (bytes.length() > most) {
                throw bytes.malformed("it must have at most " + most + " bytes, has " + bytes.length());
            }
            return bytes.bytes((int) bytes.length(), what);
        }
    }

    /** Returns the error for a missing file that another one names, with that as the reason. */
    static NoSuchFileException missing(Path file, String wanted, NoSuchFileException cause) {
        NoSuchFileException missing = new NoSuchFileException(file.toString(), null, wanted);
        missing.initCause(cause);
        return missing;
    }

    /** Throws if the path is a named pipe: opening it would block until a process opens it for writing. */
    static void refusePipe(Path path) throws IOException {
        if (path.getFileSystem().supportedFileAttributeViews().contains("unix")
                && ((int) Files.getAttribute(path, "unix:mode") & S_IFMT) == S_IFIFO) {
            throw new FileSystemException(path.toString(), null, "a pipe is not a file of arrays");
        }
    }

    /** Returns the length of the file. */
    long length() {
        return length;
    }

    /** Returns the offset of the next byte. */
    long position() {
        return windowEnd - window.remaining();
    }

    /** Returns how many bytes follow. */
    long remaining() {
        return length - position();
    }

    long u32(String what) throws IOException {
        return Integer.toUnsignedLong(next(Integer.BYTES, what).getInt());
    }

    /** Returns an unsigned number of 64 bits that must be less than 2^63. */
    long u63(String what) throws IOException {
        long value = next(Long.BYTES, what).getLong();
        if (value < 0) {
            throw malformed(what + " at byte " + (position() - Long.BYTES) + " is " + Long.toUnsignedString(value)
                    + ", more than any file can hold");
        }
        return value;
    }

    /** Returns the next bytes, few as of a number, as a window to read from. */
    ByteBuffer next(int bytes, String what) throws IOException {
        require(bytes, what);
        if (window.remaining() < bytes) {
            window.compact();
            while (window.position() < bytes) {
                int read = channel.position(windowEnd).read(window);
                if (read < 0) {
                    throw new EOFException(path + " became shorter while it was read");
                }
                windowEnd += read;
            }
            window.flip();
        }
        return window;
    }

    /** Is told of bytes while they are read. */
    interface Progress {

        /** Takes note that the first {@code count} bytes have been read. */
        void read(byte[] bytes, int count);
    }

    @Override
    public byte[] bytes(int count, String what) throws IOException {
        return bytes(count, what, (bytes, done) -> {});
    }

    /** Returns the next bytes. Memory is allocated once it is certain that the file has as many. */
    byte[] bytes(int count, String what, Progress progress) throws IOException {
        require(count, what);
        byte[] bytes = new byte[count];
        int done = Math.min(count, window.remaining());
        window.get(bytes, 0, done);
        progress.read(bytes, done);
        ByteBuffer rest = ByteBuffer.wrap(bytes, done, count - done);
        if (rest.hasRemaining()) {
            window.position(0).limit(0); // what follows it is read without it
        }
        channel.position(windowEnd);
        while (rest.hasRemaining()) {
            int read = readSome(channel, rest);
            if (read < 0) {
                throw new EOFException(path + " became shorter while it was read");
            }
            windowEnd += read;
            progress.read(bytes, rest.position());
        }
        return bytes;
    }

    /**
     * Reads some bytes, as {@link SeekableByteChannel#read} does, but not many at a time: for bytes that go to the heap
     * the thread would keep as much direct memory as a call asks for.
     */
    public static int readSome(SeekableByteChannel channel, ByteBuffer target) throws IOException {
        int limit = target.limit();
        if (!target.isDirect()) {
            target.limit(target.position() + Math.min(target.remaining(), WINDOW));
        }
        try {
            return channel.read(target);
        } finally {
            target.limit(limit);
        }
    }

    /** Continues that many bytes later, which must be in the file. */
    public void skip(long bytes, String what) throws IOException {
        require(bytes, what);
        if (bytes <= window.remaining()) {
            window.position(window.position() + (int) bytes);
        } else {
            windowEnd += bytes - window.remaining();
            window.position(0).limit(0);
        }
    }

    /** Continues at another offset, which must be in the file, or at its end. */
    public void seek(long offset, String what) {
        if (offset < 0 || offset > length) {
            throw malformed(what + " would start at byte " + offset + ", but the file ends at " + length);
        }
        long windowStart = windowEnd - window.limit();
        if (offset >= windowStart && offset <= windowEnd) {
            window.position((int) (offset - windowStart));
        } else {
            windowEnd = offset;
            window.position(0).limit(0);
        }
    }

    /** Checks that {@code count} things of at least {@code bytes} bytes each can follow. */
    void requireRoomFor(long count, long bytes, String what) {
        if (count > remaining() / bytes) {
            throw malformed(what + ": " + count + " of at least " + bytes + " bytes each cannot be in the "
                    + remaining() + " bytes after byte " + position());
        }
    }

    /** Checks that so many bytes follow. */
    void require(long bytes, String what) {
        if (bytes > remaining()) {
            throw malformed(what + " at byte " + position() + " takes " + bytes + " bytes, but the file ends after "
                    + remaining());
        }
    }

    /** Notes how many bytes there are behind what the format has, if that is permitted; else refuses them. */
    void trailing(long count, String complaint, Set<FormatOption> permitted, Map<String, String> attributes) {
        if (count == 0) {
            return;
        }
        if (!permitted.contains(FormatOption.TRAILING_BYTES)) {
            throw malformed(complaint + "; " + SafetensorsReader.PERMIT.formatted(FormatOption.TRAILING_BYTES));
        }
        attributes.put("trailing bytes", String.valueOf(count));
    }

    /** Returns the error of something that the format has, but this library does not. */
    @Override
    public MalformedFileException unsupported(String complaint) {
        return MalformedFileException.unsupported(path, format, complaint);
    }

    @Override
    public MalformedFileException malformed(String complaint) {
        return new MalformedFileException(path, format, complaint);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
