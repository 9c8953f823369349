// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.netty.util.NetUtil;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.cli.serve.FileServer;
import io.penstock.cli.serve.LeasedContents;
import io.penstock.cli.serve.Limits;
import io.penstock.cli.serve.OpenFiles;
import io.penstock.cli.serve.ServedDirectory;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code penstock serve}: the files of a directory over HTTP, until the process is terminated. */
@Command(
        name = "serve",
        description =
                "Serves the files of a directory over HTTP, with ranges, from file regions straight to sockets. There are"
                        + " no listings, and no index.html for a directory.")
final class ServeCommand implements Callable<Integer> {

    private static final int MOST_PORT = 0xFFFF;
    private static final int MOST_DEPTH = 64;
    private static final long MOST_CHUNK = 64L << 20;
    private static final int MOST_SECONDS = 24 * 60 * 60;
    private static final long CLOSE_SECONDS = 15;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "DIR", description = "The directory to serve.")
    private Path directory = Path.of("");

    @Option(
            names = "--host",
            paramLabel = "ADDRESS",
            description =
                    "Where to listen (default: loopback only, where no Host is answered but addresses and localhost).")
    private InetAddress host = InetAddress.getLoopbackAddress();

    @Option(
            names = "--host-name",
            paramLabel = "NAME",
            description =
                    "Answers for this Host too, such as a proxy's in front; can be repeated. Also where it does not"
                            + " listen on loopback only these names, addresses and localhost are answered then.")
    private List<String> hostNames = List.of();

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8080",
            description = "0 for any that is free (default: 8080).")
    private int port;

    @Option(
            names = "--chunk",
            paramLabel = "BYTES",
            defaultValue = "256KiB",
            converter = ByteSize.class,
            description = "Bytes per read (default: 256KiB).")
    private long chunkBytes;

    @Option(
            names = "--depth",
            paramLabel = "N",
            defaultValue = "2",
            description = "Chunks that a response may hold; memory is connections x depth x chunk (default: 2).")
    private int depth;

    @Option(
            names = "--open-files",
            paramLabel = "N",
            defaultValue = "256",
            description = "Files kept open between requests (default: 256).")
    private int openFiles;

    @Option(
            names = "--connections",
            paramLabel = "N",
            defaultValue = "256",
            description = "Connections at a time; further ones wait until one ends (default: 256).")
    private int connections;

    @Option(
            names = "--header-timeout",
            paramLabel = "SECONDS",
            defaultValue = "10",
            description = "A connection is closed if the headers of a request take longer (default: 10).")
    private int headerSeconds;

    @Option(
            names = "--idle-timeout",
            paramLabel = "SECONDS",
            defaultValue = "60",
            description = "A connection is closed if its next request takes longer (default: 60).")
    private int idleSeconds;

    @Option(
            names = "--stall-timeout",
            paramLabel = "SECONDS",
            defaultValue = "30",
            description =
                    "A connection is closed if its client reads no byte of a response for longer, or by and large fewer"
                            + " than 1000 a second (default: 30).")
    private int stallSeconds;

    @Option(
            names = "--dot-files",
            description =
                    "Serves files and directories whose names begin with a dot, too; otherwise they are not found.")
    private boolean dotFiles;

    private final CountDownLatch ended = new CountDownLatch(1);

    @Override
    public Integer call() throws IOException {
        check(port >= 0 && port <= MOST_PORT, "--port must be 0 to " + MOST_PORT + ", was " + port);
        check(depth >= 1 && depth <= MOST_DEPTH, "--depth must be 1 to " + MOST_DEPTH + ", was " + depth);
        check(chunkBytes <= MOST_CHUNK, "--chunk must be at most " + MOST_CHUNK + ", was " + chunkBytes);
        check(openFiles >= 0, "--open-files must be at least 0, was " + openFiles);
        check(connections >= 1, "--connections must be at least 1, was " + connections);
        Limits limits = new Limits(
                connections,
                seconds("--header-timeout", headerSeconds),
                seconds("--idle-timeout", idleSeconds),
                seconds("--stall-timeout", stallSeconds));
        if (Files.notExists(directory, LinkOption.NOFOLLOW_LINKS)) {
            throw new IOException("there is no directory " + directory);
        }
        ServedDirectory served = new ServedDirectory(directory, dotFiles);
        // Host memory, because sockets are written from it; delivery on the I/O queue, because Netty does not block it.
        Options options = Options.none().with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT);
        try (Backend backend = Backends.open("host", options);
                OpenFiles files = new OpenFiles(backend, served, openFiles)) {
            serve(served, new LeasedContents(backend, files, chunkBytes, depth, true), limits);
        } finally {
            ended.countDown();
        }
        return 0;
    }

    private Duration seconds(String option, int seconds) {
        check(seconds >= 1 && seconds <= MOST_SECONDS, option + " must be 1 to " + MOST_SECONDS + ", was " + seconds);
        return Duration.ofSeconds(seconds);
    }

    private void check(boolean good, String complaint) {
        if (!good) {
            throw new ParameterException(spec.commandLine(), complaint);
        }
    }

    private void serve(ServedDirectory served, LeasedContents contents, Limits limits) {
        InetSocketAddress address = new InetSocketAddress(host, port);
        try (FileServer server = start(address, served, contents, limits)) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> endWithTheProcess(server), "serve-exit"));
            PrintWriter out = spec.commandLine().getOut();
            out.println("serving " + TextTable.plain(served.root().toString()) + " at "
                    + url(server.address().getPort()));
            out.flush();
            server.await();
        }
    }

    private FileServer start(
            InetSocketAddress address, ServedDirectory served, LeasedContents contents, Limits limits) {
        try {
            return FileServer.start(address, hostNames, served, contents, limits);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--host-name: " + e.getMessage(), e);
        }
    }

    /** Makes SIGINT and SIGTERM wait until responses in flight have completed and the backend is closed. */
    private void endWithTheProcess(FileServer server) {
        server.close();
        try {
            if (!ended.await(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                spec.commandLine().getErr().println("penstock: the backend has not closed in time");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns where it was told to listen: Netty reports 0.0.0.0 as an address of IPv6. */
    private String url(int boundPort) {
        return "http://" + NetUtil.toSocketAddressString(new InetSocketAddress(host, boundPort)) + '/';
    }
}
