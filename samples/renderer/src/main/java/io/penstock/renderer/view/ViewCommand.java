// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import io.netty.util.NetUtil;
import io.penstock.cli.BackendChoice;
import io.penstock.cli.ByteSize;
import io.penstock.cli.Progress;
import io.penstock.cli.Subcommand;
import io.penstock.cli.TextTable;
import io.penstock.renderer.BundledScan;
import io.penstock.renderer.volume.NiftiFile;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code penstock view}: a page that shows a volume being streamed, until the process is terminated. */
@Command(
        name = "view",
        description =
                "Serves a web page that shows a NIfTI volume, streamed anew for every frame: turn it, and"
                        + " choose backend, path, budget, chunk and depth while the page shows rates, latencies and staging buffers.")
public final class ViewCommand implements Subcommand {

    private static final int MOST_PORT = 0xFFFF;
    private static final long CLOSE_SECONDS = 45;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(
            arity = "0..1",
            paramLabel = "VOLUME",
            description = "The file to show (default: the bundled scan of a brain).")
    private @Nullable Path path;

    @Option(
            names = "--host",
            paramLabel = "ADDRESS",
            description =
                    "Where to listen (default: loopback only). There is no password: a client that reaches the port can use the backends.")
    private InetAddress host = InetAddress.getLoopbackAddress();

    @Option(
            names = "--port",
            paramLabel = "PORT",
            defaultValue = "8090",
            description = "0 for any that is free (default: 8090).")
    private int port;

    @Option(
            names = "--origin",
            paramLabel = "ORIGIN",
            description =
                    "Lets pages of this origin connect too; can be repeated. An example is https://view.example for a proxy"
                            + " that serves the page there. Otherwise the page must come from this server, by its address or as localhost.")
    private Set<String> origins = Set.of();

    @Option(
            names = "--budget",
            paramLabel = "BYTES",
            defaultValue = "8MiB",
            converter = ByteSize.class,
            description =
                    "Bytes of voxels in memory at a time, to begin with; at most half of the volume (default: 8MiB).")
    private long budgetBytes;

    @Mixin
    private BackendChoice choice = new BackendChoice();

    private final Progress progress = new Progress();
    private final CountDownLatch ended = new CountDownLatch(1);

    /** For picocli. */
    public ViewCommand() {}

    @Override
    public Integer call() throws IOException {
        if (port < 0 || port > MOST_PORT) {
            throw new ParameterException(spec.commandLine(), "--port must be 0 to " + MOST_PORT + ", was " + port);
        }
        choice.check(); // it is opened for the first frame
        Origins pages = pages();
        try (BundledScan bundled = new BundledScan()) {
            Path file = path == null ? bundled.path() : path;
            try (NiftiFile volume = NiftiFile.open(file, this::inflated);
                    FrameLoop loop = new FrameLoop(volume)) {
                serve(String.valueOf(file.getFileName()), loop, pages);
            }
            return 0;
        } finally {
            progress.clear();
            ended.countDown();
        }
    }

    private Origins pages() {
        try {
            return new Origins(origins);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--origin: " + e.getMessage(), e);
        }
    }

    private void inflated(String into, long done, long total) {
        progress.step("inflating into " + into, done, total);
        if (done == total) {
            progress.clear();
        }
    }

    private void serve(String name, FrameLoop loop, Origins pages) {
        long budget = Math.min(budgetBytes, Math.max(1, loop.volume().header().volumeBytes() / 2));
        ViewServer.Beginning beginning = new ViewServer.Beginning(name, choice.name(), budget);
        try (ViewServer server = ViewServer.start(new InetSocketAddress(host, port), loop, pages, beginning)) {
            Runtime.getRuntime().addShutdownHook(new Thread(() -> endWithTheProcess(server), "view-exit"));
            PrintWriter out = spec.commandLine().getOut();
            out.println("viewing " + TextTable.plain(name) + " at "
                    + url(server.address().getPort()));
            out.flush();
            server.await();
        }
    }

    /** Makes SIGINT and SIGTERM wait until the backends are closed. */
    private void endWithTheProcess(ViewServer server) {
        server.close();
        try {
            if (!ended.await(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                spec.commandLine().getErr().println("penstock: the backends have not closed in time");
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
