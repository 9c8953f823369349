// SPDX-License-Identifier: Apache-2.0
/** Files behind {@code http:} and {@code https:} URIs. */
@SuppressWarnings("module") // the one module that stands on it is compiled after it
module io.penstock.remote.http {
    requires io.penstock.engine;
    requires org.slf4j;

    // Not promised: for services that stand on HTTP, of this library.
    exports io.penstock.remote.http.client to
            io.penstock.remote.s3;

    provides io.penstock.engine.kit.remote.RemoteProvider with
            io.penstock.remote.http.client.HttpProvider.Http,
            io.penstock.remote.http.client.HttpProvider.Https;
    provides java.nio.file.spi.FileSystemProvider with
            io.penstock.remote.http.client.HttpProvider.Http,
            io.penstock.remote.http.client.HttpProvider.Https;
}
