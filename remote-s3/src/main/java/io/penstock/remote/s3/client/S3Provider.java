// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.FileOption;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.Shared;
import io.penstock.engine.spi.remote.RemoteFileSystemProvider;
import io.penstock.engine.spi.remote.RemoteProvider;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.net.URI;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.NoSuchFileException;
import java.util.EnumSet;
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

    /** {@inheritDoc} All but DIRECT. */
    @Override
    public Set<FileOption> fileOptions() {
        return EnumSet.complementOf(EnumSet.of(FileOption.DIRECT));
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the options ask for what objects are not: they are read, or replaced as a whole
     */
    @Override
    public AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) throws IOException {
        boolean replaces = fileOptions.contains(FileOption.CREATE_NEW) || fileOptions.contains(FileOption.TRUNCATE);
        if (fileOptions.contains(FileOption.WRITE) && (fileOptions.contains(FileOption.READ) || !replaces)) {
            throw new IllegalArgumentException("opening " + RemoteProvider.name(uri)
                    + ": objects are written as a whole: WRITE needs CREATE_NEW or TRUNCATE, and excludes READ, options were "
                    + fileOptions);
        }
        CrtClient.Settings settings = CrtClient.Settings.of(options);
        int partBytes = Math.toIntExact(options.get(S3Options.PART_BYTES));
        try {
            return open(uri, fileOptions, settings, partBytes);
        } catch (OtherRegionException e) {
            return open(uri, fileOptions, settings.in(e.region()), partBytes);
        }
    }

    private static AsyncFile open(URI uri, Set<FileOption> fileOptions, CrtClient.Settings settings, int partBytes)
            throws IOException {
        Address address = Address.of(uri, settings.endpoint(), settings.region());
        CrtClient client = CLIENTS.open(settings, () -> new CrtClient(settings));
        Runnable closer = () -> CLIENTS.leave(client);
        try {
            if (!fileOptions.contains(FileOption.WRITE)) {
                return S3Object.open(client, address, closer);
            }
            check(client, address, fileOptions);
            boolean isNew = fileOptions.contains(FileOption.CREATE_NEW);
            return new S3Upload(new Multipart(client, address, isNew), address, partBytes, closer);
        } catch (IOException | RuntimeException e) {
            CLIENTS.leave(client);
            throw e;
        }
    }

    /** Checks whether there is such an object, as the options demand. */
    private static void check(CrtClient client, Address address, Set<FileOption> fileOptions) throws IOException {
        try {
            S3Object.open(client, address, () -> {});
            if (fileOptions.contains(FileOption.CREATE_NEW)) {
                throw new FileAlreadyExistsException(address.toString());
            }
        } catch (NoSuchFileException e) {
            if (!fileOptions.contains(FileOption.CREATE_NEW) && !fileOptions.contains(FileOption.CREATE)) {
                throw e;
            }
        } catch (AccessDeniedException e) {
            // who may write need not be allowed to read
        }
    }
}
