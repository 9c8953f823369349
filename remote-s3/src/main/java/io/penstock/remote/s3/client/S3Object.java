// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.engine.spi.AsyncFile;
import io.penstock.engine.spi.NativeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** An object: its length and its entity tag, which every range must be of. */
final class S3Object implements AsyncFile {

    private final CrtClient client;
    private final Address address;
    private final Runnable closer;
    private final long size;
    private final String etag;

    private S3Object(CrtClient client, Address address, Runnable closer, long size, String etag) {
        this.client = client;
        this.address = address;
        this.closer = closer;
        this.size = size;
        this.etag = etag;
    }

    /**
     * Opens an object; blocks.
     *
     * @param closer called when it is closed
     */
    static S3Object open(CrtClient client, Address address, Runnable closer) throws IOException {
        S3Request head = new S3Request(address, "HeadObject");
        try {
            head.await(client, "HEAD", "", null);
        } catch (NativeException e) {
            throw switch ((int) e.failure().error().code()) {
                case 404 ->
                    new NoSuchFileException(
                            address.toString(), null, e.failure().toString());
                case 401, 403 ->
                    new AccessDeniedException(
                            address.toString(), null, e.failure().toString());
                default -> e;
            };
        }
        String length = head.answered("Content-Length");
        String etag = head.answered("ETag");
        if (length == null || !length.matches("\\d{1,18}") || etag == null) {
            throw new IOException("opening " + address + " failed: the server does not tell its length and its ETag");
        }
        return new S3Object(client, address, closer, Long.parseLong(length), etag);
    }

    @Override
    public Runnable read(long offset, ByteBuffer to, Consumer<@Nullable Throwable> ended) {
        S3Request get = new S3Request(address, "GetObject").range(offset, to).header("If-Match", etag);
        get.start(client, "GET", "", null, error -> ended.accept(error == null ? get.refusal(etag) : error));
        return get::cancel;
    }

    /** {@inheritDoc} The URI and the entity tag. */
    @Override
    public Object identity() {
        return new Identity(address, etag);
    }

    private record Identity(Address address, String etag) {}

    @Override
    public long size() {
        return size;
    }

    @Override
    public void close() {
        closer.run();
    }

    @Override
    public String toString() {
        return address.toString();
    }
}
