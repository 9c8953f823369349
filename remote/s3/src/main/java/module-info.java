// SPDX-License-Identifier: Apache-2.0
/** Objects behind {@code s3:} URIs. */
@SuppressWarnings("module") // "should avoid terminal digits": they are the service's
module io.penstock.remote.s3 {
    requires transitive io.penstock.api;
    requires io.penstock.engine;
    requires io.penstock.remote.http;
    requires aws.crt;
    requires org.slf4j;

    exports io.penstock.remote.s3;

    provides io.penstock.spi.OptionProvider with
            io.penstock.remote.s3.client.S3Provider;
    provides io.penstock.engine.kit.remote.RemoteProvider with
            io.penstock.remote.s3.client.S3Provider;
    provides java.nio.file.spi.FileSystemProvider with
            io.penstock.remote.s3.client.S3Provider;
}
