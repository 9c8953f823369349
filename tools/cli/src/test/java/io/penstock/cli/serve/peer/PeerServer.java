// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve.peer;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.cli.serve.Contents;
import io.penstock.cli.serve.FileServer;
import io.penstock.cli.serve.LeasedContents;
import io.penstock.cli.serve.Limits;
import io.penstock.cli.serve.OpenFiles;
import io.penstock.cli.serve.ServedDirectory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import reactor.netty.DisposableServer;
import reactor.netty.http.server.HttpServer;

/**
 * One server of the comparison, in a process of its own: {@code PeerServer WAY DIR PORT}, until it is killed. WAY is
 * {@code penstock:CHUNK:DEPTH}, with {@code :leased} behind it without sendfile, {@code spring:BUFFER}, or {@code
 * sendfile}.
 */
public final class PeerServer {

    private static final Pattern RANGE = Pattern.compile("bytes=(\\d+)-(\\d+)");

    private PeerServer() {}

    public static void main(String[] arguments) throws IOException {
        String[] variant = arguments[0].split(":");
        Path directory = Path.of(arguments[1]);
        InetSocketAddress address =
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(arguments[2]));
        if (variant[0].equals("sendfile")) {
            sendfile(directory, address).onDispose().block();
            return;
        }
        ServedDirectory served = new ServedDirectory(directory);
        Contents contents = variant[0].equals("spring")
                ? new SpringContents(Integer.parseInt(variant[1]))
                : leased(served, Long.parseLong(variant[1]), Integer.parseInt(variant[2]), variant.length == 3);
        FileServer.start(address, List.of(), served, contents, Limits.DEFAULT).await();
    }

    private static Contents leased(ServedDirectory served, long chunkBytes, int depth, boolean sendfile) {
        Backend backend =
                Backends.open("host", Options.none().with(CommonOptions.DELIVERY, CommonOptions.Delivery.DIRECT));
        return new LeasedContents(backend, new OpenFiles(backend, served, 16), chunkBytes, depth, sendfile);
    }

    /** The same Reactor Netty with its sendFile, and nothing else: no look at the file, no conditions. */
    private static DisposableServer sendfile(Path directory, InetSocketAddress address) {
        return HttpServer.create()
                .bindAddress(() -> address)
                .handle((request, response) -> {
                    Matcher range = RANGE.matcher(request.requestHeaders().get("Range", ""));
                    Path file = directory.resolve(request.uri().substring(1));
                    if (!range.matches()) {
                        return response.sendNotFound();
                    }
                    long first = Long.parseLong(range.group(1));
                    long length = Long.parseLong(range.group(2)) - first + 1;
                    return response.status(206)
                            .header("Content-Length", Long.toString(length))
                            .sendFile(file, first, length);
                })
                .bindNow();
    }
}
