// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.qemu;

import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Serves a disk of this process to QEMU, by the NBD protocol (fixed newstyle negotiation, simple replies). One client
 * at a time; requests one by one, in order.
 */
public final class NbdDisk implements Closeable {

    /** The bytes of a disk. */
    public interface Content {

        /** Returns the size of the disk. */
        long bytes();

        /** Reads from {@code offset} on. */
        void read(long offset, ByteBuffer target) throws IOException;

        /** Writes from {@code offset} on. */
        void write(long offset, ByteBuffer source) throws IOException;

        /** Makes what was written durable. */
        void flush() throws IOException;
    }

    private static final long INIT = 0x4e42444d41474943L; // "NBDMAGIC"
    private static final long OPTION = 0x49484156454f5054L; // "IHAVEOPT"
    private static final long OPTION_REPLY = 0x3e889045565a9L;
    private static final int REQUEST = 0x25609513;
    private static final int REPLY = 0x67446698;
    private static final int OPTION_ABORT = 2;
    private static final int OPTION_GO = 7;
    private static final int ACK = 1;
    private static final int INFO = 3;
    private static final int UNSUPPORTED = 1 << 31 | 1;
    private static final int HAS_FLAGS_AND_FLUSH = 1 | 1 << 2;
    private static final int EIO = 5;
    private static final int ENOSPC = 28;

    /** The message of an {@link IOException} of a content that is full; all others are input/output errors. */
    public static final String FULL = "No space left on device";

    private final Content content;
    private final Path socket;
    private final ServerSocketChannel server;

    /** Starts to serve. */
    public NbdDisk(Content content) throws IOException {
        this.content = content;
        socket = Files.createTempDirectory("penstock-nbd").resolve("nbd");
        server = ServerSocketChannel.open(StandardProtocolFamily.UNIX).bind(UnixDomainSocketAddress.of(socket));
        Thread thread = new Thread(this::serve, "nbd");
        thread.setDaemon(true);
        thread.start();
    }

    /** Returns the disk for {@code Qemu.start}. */
    public String drive() {
        return "file=nbd:unix:" + socket + ",format=raw";
    }

    private void serve() {
        while (true) {
            try (SocketChannel client = server.accept()) {
                DataInputStream in = new DataInputStream(Channels.newInputStream(client));
                DataOutputStream out =
                        new DataOutputStream(new BufferedOutputStream(Channels.newOutputStream(client), 1 << 16));
                if (negotiate(in, out)) {
                    while (answer(in, out)) {}
                }
            } catch (EOFException e) {
                // QEMU was killed
            } catch (IOException e) {
                if (!server.isOpen()) {
                    return;
                }
            }
        }
    }

    private boolean negotiate(DataInputStream in, DataOutputStream out) throws IOException {
        out.writeLong(INIT);
        out.writeLong(OPTION);
        out.writeShort(3); // fixed newstyle, no zeroes
        out.flush();
        in.readInt();
        while (true) {
            if (in.readLong() != OPTION) {
                throw new IOException("not an option");
            }
            int option = in.readInt();
            in.skipNBytes(in.readInt());
            switch (option) {
                case OPTION_GO -> {
                    reply(out, option, INFO, 12);
                    out.writeShort(0); // of the export
                    out.writeLong(content.bytes());
                    out.writeShort(HAS_FLAGS_AND_FLUSH);
                    reply(out, option, ACK, 0);
                    out.flush();
                    return true;
                }
                case OPTION_ABORT -> {
                    return false;
                }
                default -> {
                    reply(out, option, UNSUPPORTED, 0);
                    out.flush();
                }
            }
        }
    }

    private static void reply(DataOutputStream out, int option, int type, int bytes) throws IOException {
        out.writeLong(OPTION_REPLY);
        out.writeInt(option);
        out.writeInt(type);
        out.writeInt(bytes);
    }

    private boolean answer(DataInputStream in, DataOutputStream out) throws IOException {
        if (in.readInt() != REQUEST) {
            throw new IOException("not a request");
        }
        in.readShort();
        int type = in.readShort();
        long handle = in.readLong();
        long offset = in.readLong();
        byte[] bytes = new byte[type <= 1 ? in.readInt() : 0];
        if (type > 1) {
            in.readInt();
        }
        if (type == 1) {
            in.readFully(bytes);
        }
        int error = 0;
        try {
            switch (type) {
                case 0 -> content.read(offset, ByteBuffer.wrap(bytes));
                case 1 -> content.write(offset, ByteBuffer.wrap(bytes));
                case 3 -> content.flush();
                default -> {
                    return false;
                }
            }
        } catch (IOException e) {
            error = e.getMessage().equals(FULL) ? ENOSPC : EIO;
        }
        out.writeInt(REPLY);
        out.writeInt(error);
        out.writeLong(handle);
        if (type == 0 && error == 0) {
            out.write(bytes);
        }
        out.flush();
        return true;
    }

    @Override
    public void close() throws IOException {
        server.close();
        Files.deleteIfExists(socket);
        Files.deleteIfExists(socket.getParent());
    }
}
