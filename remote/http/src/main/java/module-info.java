// SPDX-License-Identifier: Apache-2.0
/** Files behind {@code http:} and {@code https:} URIs. */
@SuppressWarnings("module") // the one module that stands on it is compiled after it
module io.penstock.remote.http {
    requires transitive io.penstock.api;
    requires io.penstock.engine;
    requires org.slf4j;

    exports io.penstock.remote.http;

    // Not promised: for services that stand on HTTP, of this library.
    exports io.penstock.remote.http.client to
            io.penstock.remote.s3;

    provides io.penstock.spi.OptionProvider with
            io.penstock.remote.http.client.HttpProvider.Http;
    provides io.penstock.engine.kit.remote.RemoteProvider with
            io.penstock.remote.http.client.HttpProvider.Http,
            io.penstock.remote.http.client.HttpProvider.Https,
            io.penstock.remote.http.client.HttpProvider.Hub;
    provides java.nio.file.spi.FileSystemProvider with
            io.penstock.remote.http.client.HttpProvider.Http,
            io.penstock.remote.http.client.HttpProvider.Https,
            io.penstock.remote.http.client.HttpProvider.Hub;
}
