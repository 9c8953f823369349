// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.tck.Require;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips the class on a machine without certificates of authorities: the client that writes objects does not start
 * there, whether or not it uses TLS ({@link WithoutCertificatesTest}).
 */
final class Certificates implements BeforeAllCallback {

    @Override
    public void beforeAll(ExtensionContext context) {
        boolean there =
                Stream.of("/etc/ssl/certs", "/etc/pki/tls/certs").map(Path::of).anyMatch(Files::isDirectory);
        Require.backend("certificates", there ? null : "no folder with certificates of authorities");
    }
}
