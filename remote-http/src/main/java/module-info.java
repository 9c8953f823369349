// SPDX-License-Identifier: Apache-2.0
/** Files behind {@code http:} and {@code https:} URIs. */
module io.penstock.remote.http {
    requires io.penstock.engine;
    requires org.slf4j;

    provides io.penstock.engine.spi.remote.RemoteProvider with
            io.penstock.remote.http.HttpProvider.Http,
            io.penstock.remote.http.HttpProvider.Https;
    provides java.nio.file.spi.FileSystemProvider with
            io.penstock.remote.http.HttpProvider.Http,
            io.penstock.remote.http.HttpProvider.Https;
}
