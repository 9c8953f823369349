// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.CommonOptions;
import io.penstock.FileOption;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.kit.remote.RemoteProvider;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.Shared;
import io.penstock.remote.ucx.ffi.UcsStatus;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Set;

/** Opens {@code ucx:} URIs, which a {@link UcxListener} in another process has given to its exports. */
@SuppressWarnings("exports") // for the engine, by ServiceLoader
public final class UcxProvider implements RemoteProvider {

    /**
     * What is shared by the files that were opened with the same options.
     *
     * @param generation counted up where an earlier connection has ended, and files of it are still open
     */
    private record Key(String host, int port, long timeoutNanos, int generation) {}

    private static final Shared<Key, RemotePeer> PEERS = new Shared<>(peer -> {
        peer.connection().end(peer.connection().failure("close", UcsStatus.CANCELED, "its last file was closed"));
        peer.connection().join();
    });

    /** Creates the provider; called by {@link java.util.ServiceLoader}. */
    public UcxProvider() {}

    @Override
    public Set<String> schemes() {
        return Set.of("ucx");
    }

    @Override
    public List<Option<?>> options() {
        return UcxOptions.all();
    }

    @Override
    public Set<FileOption> fileOptions() {
        return Set.of(FileOption.READ, FileOption.WRITE);
    }

    @Override
    public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) throws IOException {
        String path = uri.getPath();
        if (uri.getHost() == null || uri.getPort() < 0 || path == null || path.length() < 2) {
            throw new IOException("a URI of an export must be ucx://host:port/token, was " + uri);
        }
        RemotePeer peer = peer(uri, options.get(CommonOptions.REMOTE_TIMEOUT).toNanos());
        try {
            return peer.open(token(uri), UcxExport.access(fileOptions), () -> PEERS.leave(peer));
        } catch (IOException | RuntimeException | Error e) {
            PEERS.leave(peer);
            throw e;
        }
    }

    private static String token(URI uri) {
        return uri.getPath().substring(1);
    }

    private static RemotePeer peer(URI uri, long timeoutNanos) throws IOException {
        for (int generation = 0; ; generation++) {
            Key key = new Key(uri.getHost(), uri.getPort(), timeoutNanos, generation);
            RemotePeer peer =
                    PEERS.open(key, () -> RemotePeer.connect(uri.getHost(), uri.getPort(), token(uri), timeoutNanos));
            if (peer.connection().over() == null) {
                return peer;
            }
            PEERS.leave(peer);
        }
    }
}
