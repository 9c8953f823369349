// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.FileOption;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.Shared;
import io.penstock.engine.spi.remote.RemoteFileSystemProvider;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Set;

/** Opens {@code s3://BUCKET/KEY}. */
public final class S3Provider extends RemoteFileSystemProvider {

    private static final Shared<CrtClient.Settings, CrtClient> CLIENTS = new Shared<>(CrtClient::close);

    /** Creates a provider. */
    public S3Provider() {
        super("s3");
    }

    @Override
    public List<Option<?>> options() {
        return S3Options.all();
    }

    @Override
    public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) throws IOException {
        CrtClient.Settings settings = CrtClient.Settings.of(options);
        try {
            return open(uri, settings);
        } catch (OtherRegionException e) {
            return open(uri, settings.in(e.region()));
        }
    }

    private static AsyncFile open(URI uri, CrtClient.Settings settings) throws IOException {
        Address address = Address.of(uri, settings.endpoint(), settings.region());
        CrtClient client = CLIENTS.open(settings, () -> new CrtClient(settings));
        try {
            return S3Object.open(client, address, () -> CLIENTS.leave(client));
        } catch (IOException | RuntimeException e) {
            CLIENTS.leave(client);
            throw e;
        }
    }
}
