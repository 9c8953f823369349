// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Where the processes of a shared read meet: sockets of one name, with numbers. The host listens at the lowest number that
 * no killed host has left: a socket that refuses is dead, and nobody deletes it before the read is over. So all find the
 * same one, and a new host needs no lock: the link of its number is made by the kernel, for one process.
 *
 * @param processes how many are waited for; falls when some have left
 */
record SharedPlace(Path socket, AtomicInteger processes, long patienceNanos) {

    /** A host's socket, which its owner closes. */
    record Listener(SharedPlace place, int number, ServerSocketChannel channel) {

        /**
         * Closes and deletes the socket. If the read is over, it deletes sockets of killed hosts, too: from the lowest on,
         * where others look first.
         */
        void close(boolean over) {
            if (!channel.isOpen()) {
                return; // another one may have made a socket of that name
            }
            try {
                for (int each = over ? 0 : number; each <= number; each++) {
                    deleteSocket(place.at(each));
                }
                if (over) {
                    place.deleteUnlinked();
                }
            } catch (IOException e) {
                // one that is left refuses, and the next read at this place deletes it
            }
            try {
                channel.close();
            } catch (IOException e) {
                // its descriptor is free
            }
        }
    }

    /** What becomes of a listener. */
    @FunctionalInterface
    interface Hosting {

        void host(Listener listener) throws IOException;
    }

    SharedPlace part(String name) {
        return new SharedPlace(sibling(socket.getFileName() + "-" + name), processes, patienceNanos);
    }

    private Path sibling(String name) {
        return socket.resolveSibling(name);
    }

    private Path at(int number) {
        return sibling(socket.getFileName() + "." + number);
    }

    /**
     * Connects to the host, without waiting for it; where there is none, it gives {@code host} a listener before.
     *
     * @return null if the host cannot be reached now
     */
    @Nullable
    SocketChannel connect(Hosting host) throws IOException {
        int number = 0;
        while (true) {
            SocketChannel connection = SocketChannel.open(StandardProtocolFamily.UNIX);
            try {
                connection.configureBlocking(false);
                if (connection.connect(UnixDomainSocketAddress.of(at(number)))) {
                    return connection;
                }
            } catch (IOException e) {
                connection.close();
                if (!Files.exists(at(number), LinkOption.NOFOLLOW_LINKS)) {
                    listen(number, host);
                } else if (Files.isRegularFile(at(number), LinkOption.NOFOLLOW_LINKS)) { // connecting is refused, too
                    throw new IOException(at(number) + " is a file, not a socket", e);
                } else if (e instanceof ConnectException) { // refused
                    number++;
                } else if (!Files.isWritable(at(number))) {
                    throw new IOException(at(number) + " is a socket of another user", e);
                } else {
                    return null; // made or ended this moment, or has no room in its backlog
                }
            }
        }
    }

    /** Deletes a socket; leaves a regular file of that name, which no shared read has made. */
    private static void deleteSocket(Path path) throws IOException {
        if (!Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
            Files.deleteIfExists(path);
        }
    }

    /** Deletes sockets of processes that were killed before they had linked them; one that has not yet makes another. */
    private void deleteUnlinked() throws IOException {
        Pattern made = Pattern.compile(Pattern.quote(socket.getFileName() + ".") + "[0-9]+-[0-9a-f]{8}");
        Path folder = Objects.requireNonNull(socket.getParent(), "the folder of an absolute path");
        try (DirectoryStream<Path> left = Files.newDirectoryStream(
                folder, file -> made.matcher(file.getFileName().toString()).matches())) {
            for (Path each : left) {
                deleteSocket(each);
            }
        }
    }

    private void listen(int number, Hosting host) throws IOException {
        // Under another name until it listens: one that does not yet would be taken for a dead one.
        Path made = sibling(
                at(number).getFileName() + "-" + UUID.randomUUID().toString().substring(0, 8));
        ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
        try {
            channel.bind(UnixDomainSocketAddress.of(made));
            Files.setPosixFilePermissions(made, PosixFilePermissions.fromString("rw-------"));
            Files.createLink(at(number), made);
            host.host(new Listener(this, number, channel));
        } catch (FileAlreadyExistsException | NoSuchFileException e) { // another process was faster
            channel.close();
        } catch (IOException | RuntimeException | Error e) {
            channel.close();
            throw e;
        } finally {
            Files.deleteIfExists(made);
        }
    }
}
