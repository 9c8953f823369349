// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.penstock.tck.Require;
import java.io.IOException;
import java.io.InputStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** Exchanges any token for the credentials of this process' environment, as AWS's STS does. */
final class TokenService implements AutoCloseable {

    private static final char[] PASSWORD = "penstock".toCharArray();
    private static final String ANSWER =
            "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"
                    + "<AssumeRoleWithWebIdentityResult><Credentials><SessionToken>s</SessionToken>"
                    + "<SecretAccessKey>%s</SecretAccessKey><Expiration>2100-01-01T00:00:00Z</Expiration>"
                    + "<AccessKeyId>%s</AccessKeyId></Credentials></AssumeRoleWithWebIdentityResult>"
                    + "</AssumeRoleWithWebIdentityResponse>";

    /** Where it listens, at the one port that its clients know. */
    static final String ADDRESS = "127.0.0.2";

    private final HttpsServer server;
    private final Path certificate;

    /** Targets and bodies. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    /** Starts a service, whose certificate is in a file in the folder. */
    TokenService(Path folder) throws Exception {
        KeyStore keys = keys(folder);
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), null, null);
        certificate = Files.writeString(
                folder.resolve("sts.pem"),
                "-----BEGIN CERTIFICATE-----\n"
                        + Base64.getMimeEncoder(64, new byte[] {'\n'})
                                .encodeToString(keys.getCertificate("server").getEncoded())
                        + "\n-----END CERTIFICATE-----\n");
        server = listening();
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        byte[] answer = ANSWER.formatted(System.getenv("AWS_SECRET_ACCESS_KEY"), System.getenv("AWS_ACCESS_KEY_ID"))
                .getBytes(StandardCharsets.UTF_8);
        server.createContext("/", exchange -> {
            requests.add(exchange.getRequestURI() + " "
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8));
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }

    private static HttpsServer listening() throws IOException {
        try {
            return HttpsServer.create(new InetSocketAddress(ADDRESS, 443), 0);
        } catch (BindException e) {
            Require.backend("mount", "no port 443 of " + ADDRESS + ": " + e.getMessage());
            throw e;
        }
    }

    private static KeyStore keys(Path folder) throws Exception {
        Path store = folder.resolve("sts.p12");
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        String arguments =
                " -genkeypair -alias server -keyalg EC -dname CN=sts -ext SAN=dns:sts.eu-north-1.amazonaws.com"
                        + " -storetype PKCS12 -storepass penstock -keystore " + store;
        Process made = new ProcessBuilder((keytool + arguments).split(" "))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertThat(made.waitFor()).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        return keys;
    }

    Path certificate() {
        return certificate;
    }

    @Override
    public void close() throws IOException {
        server.stop(0);
    }
}
