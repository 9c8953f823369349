// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Options;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/** A server over a directory of a test's, on a loopback port of the system's choice. */
final class Served implements AutoCloseable {

    static final int CHUNK = 64 << 10;
    static final int DEPTH = 2;

    final Path root;
    final Backend backend;
    final OpenFiles files;
    private final FileServer server;

    Served(Path root) throws IOException {
        this(new ServedDirectory(root), Limits.DEFAULT);
    }

    Served(ServedDirectory directory, Limits limits, String... names) {
        root = directory.root();
        backend = Backends.open("host", Options.none().with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT));
        files = new OpenFiles(backend, directory, 16);
        LeasedContents contents = new LeasedContents(backend, files, CHUNK, DEPTH, true);
        server = FileServer.start(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                List.of(names),
                directory,
                contents,
                limits);
    }

    InetSocketAddress address() {
        return server.address();
    }

    Connection connect() throws IOException {
        return Connection.to(address());
    }

    /** Asks once, on a connection of its own. */
    Connection.Answer ask(String method, String target, String... headers) throws IOException {
        try (Connection connection = connect()) {
            return connection.ask(method, target, headers);
        }
    }

    /** Puts a file of {@code bytes} into the directory and returns what is in it. */
    byte[] file(String name, int bytes) throws IOException {
        byte[] content = new byte[bytes];
        new Random(bytes).nextBytes(content);
        Files.write(root.resolve(name), content);
        return content;
    }

    @Override
    public void close() {
        server.close();
        files.close();
        backend.close();
    }
}
