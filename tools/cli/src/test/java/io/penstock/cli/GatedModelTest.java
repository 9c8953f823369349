// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.remote.http.testing.ForwardProxy;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A model of eight shards as a hub gives it away: by {@code https:}, for a token, by redirections to another host that
 * expire, and through a proxy, which alone knows both hosts.
 */
@Tag("slow")
class GatedModelTest {

    private static final int SHARDS = 8;
    private static final int ARRAY_BYTES = 1_500_000; // in one range
    private static final char[] PASSWORD = "penstock".toCharArray();
    private static final List<String> PROPERTIES = List.of(
            "https.proxyHost", "https.proxyPort", "http.nonProxyHosts", "penstock.http.trust", "penstock.http.headers");

    @TempDir
    private Path folder;

    private final Map<String, byte[]> files = new ConcurrentHashMap<>();
    private final Set<String> expired = ConcurrentHashMap.newKeySet(); // targets of redirections
    private final List<String> refusals = new CopyOnWriteArrayList<>();
    private final List<String> leaks = new CopyOnWriteArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private HttpsServer server;

    @BeforeEach
    void start() throws Exception {
        SSLContext context = context();
        server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setHttpsConfigurator(new HttpsConfigurator(context));
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
        StringBuilder index = new StringBuilder("{\"weight_map\":{");
        for (int i = 0; i < SHARDS; i++) {
            String name = "model-%05d-of-%05d.safetensors".formatted(i + 1, SHARDS);
            index.append(i == 0 ? "" : ",").append("\"w%d\":\"%s\"".formatted(i, name));
            files.put("/" + name, shard("w" + i));
        }
        files.put("/model.safetensors.index.json", index.append("}}").toString().getBytes(StandardCharsets.UTF_8));
    }

    @AfterEach
    void stop() {
        PROPERTIES.forEach(System::clearProperty);
        server.stop(0);
        threads.shutdown();
    }

    private SSLContext context() throws Exception {
        Path store = folder.resolve("keys");
        String keytool =
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        String arguments = " -genkeypair -alias server -keyalg EC -dname CN=hub -storetype PKCS12 -storepass penstock"
                + " -ext SAN=dns:hub.invalid,dns:blobs.invalid -keystore " + store;
        assertThat(new ProcessBuilder((keytool + arguments).split(" "))
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor())
                .isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD);
        }
        String certificate = Base64.getMimeEncoder(64, new byte[] {'\n'})
                .encodeToString(keys.getCertificate("server").getEncoded());
        Path pem = Files.writeString(
                folder.resolve("pem"), "-----BEGIN CERTIFICATE-----\n" + certificate + "\n-----END CERTIFICATE-----\n");
        System.setProperty("penstock.http.trust", pem.toString());
        KeyManagerFactory own = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        own.init(keys, PASSWORD);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own.getKeyManagers(), null, null);
        return context;
    }

    private static byte[] shard(String array) {
        byte[] header = "{\"%s\":{\"dtype\":\"U8\",\"shape\":[%d],\"data_offsets\":[0,%d]}}"
                .formatted(array, ARRAY_BYTES, ARRAY_BYTES)
                .getBytes(StandardCharsets.US_ASCII);
        byte[] data = new byte[ARRAY_BYTES];
        new Random(array.hashCode()).nextBytes(data);
        return ByteBuffer.allocate(Long.BYTES + header.length + data.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(header.length)
                .put(header)
                .put(data)
                .array();
    }

    /** Redirects who has the token; a target expires when it is first asked for a large range. */
    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            String host = exchange.getRequestHeaders().getFirst("Host");
            String token = exchange.getRequestHeaders().getFirst("Authorization");
            String path = exchange.getRequestURI().getPath();
            if (host.startsWith("hub.")) {
                boolean known = "Bearer secret".equals(token);
                String signature = expired.contains(path + "?1") ? "?2" : "?1";
                exchange.getResponseHeaders()
                        .set("Location", "https://" + host.replace("hub.", "blobs.") + path + signature);
                exchange.sendResponseHeaders(known ? 302 : 401, -1);
                return;
            }
            if (token != null) {
                leaks.add(path);
            }
            String range = exchange.getRequestHeaders().getFirst("Range").substring("bytes=".length());
            byte[] file = files.get(path);
            int from = Integer.parseInt(range.split("-")[0]);
            int to = Math.min(Integer.parseInt(range.split("-")[1]), file.length - 1);
            String target = exchange.getRequestURI().toString();
            if (target.endsWith("?1") && to - from > 1 << 20) {
                expired.add(target);
            }
            if (expired.contains(target)) {
                refusals.add(target);
                exchange.sendResponseHeaders(403, -1);
                return;
            }
            exchange.getResponseHeaders().set("ETag", "\"" + path + "\"");
            exchange.getResponseHeaders().set("Content-Range", "bytes " + from + "-" + to + "/" + file.length);
            exchange.sendResponseHeaders(206, to - from + 1);
            exchange.getResponseBody().write(file, from, to - from + 1);
        }
    }

    @Test
    void aModelOfEightShardsIsLoadedAndVerified() throws IOException {
        String hub = "hub.invalid:" + server.getAddress().getPort();
        Path headers = Files.writeString(folder.resolve("headers"), hub + " Authorization: Bearer secret\n");
        System.setProperty("penstock.http.headers", headers.toString());
        System.setProperty("http.nonProxyHosts", "");
        System.setProperty("https.proxyHost", "127.0.0.1");
        try (ForwardProxy proxy = new ForwardProxy(server.getAddress().getPort(), null)) {
            System.setProperty("https.proxyPort", proxy.address().substring("127.0.0.1:".length()));
            CommandLineRun run =
                    CommandLineRun.of("load", "https://" + hub + "/model.safetensors.index.json", "--verify");
            assertThat(run.err()).isEmpty();
            assertThat(run.out()).contains("REMOTE", "verified", "w0 ", "w7 ");
            assertThat(proxy.requests)
                    .allMatch(line -> line.matches("CONNECT (hub|blobs)\\.invalid:\\d+ HTTP/1\\.1"))
                    .anyMatch(line -> line.contains("hub."))
                    .anyMatch(line -> line.contains("blobs."));
        }
        assertThat(leaks).isEmpty();
        assertThat(Set.copyOf(refusals)).as("targets that have expired").hasSize(SHARDS);
    }
}
