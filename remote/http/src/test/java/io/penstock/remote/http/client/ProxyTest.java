// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.StorageFile;
import io.penstock.remote.http.testing.ForwardProxy;
import java.io.IOException;
import java.net.Authenticator;
import java.net.InetSocketAddress;
import java.net.PasswordAuthentication;
import java.net.Proxy;
import java.net.ProxySelector;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Proxies: which are used for what, and that nothing goes past them. */
class ProxyTest extends ServedFile {

    private static final URI HIDDEN = URI.create("http://files.invalid/file.bin"); // the proxy alone resolves it

    ProxyTest() {
        super(new byte[1000]);
    }

    private static String proxy(String uri, Map<String, String> environment) throws IOException {
        return String.valueOf(HttpProxy.of(URI.create(uri), environment, null));
    }

    @Test
    void theEnvironmentNamesAProxyForEachScheme() throws IOException {
        Map<String, String> both = Map.of("http_proxy", "one.example", "HTTPS_PROXY", "http://u:p@two.example:3128/");
        assertThat(proxy("http://a.example/x", both)).isEqualTo("one.example:80");
        assertThat(proxy("https://a.example/x", both)).isEqualTo("two.example:3128");
        assertThat(proxy("https://a.example/x", Map.of("all_proxy", "http://[::1]:8080")))
                .isEqualTo("[::1]:8080");
        assertThat(proxy("https://a.example/x", Map.of("http_proxy", "one.example")))
                .isEqualTo("null");
        HttpProxy proxy = HttpProxy.of(URI.create("https://a/"), Map.of("https_proxy", "http://u%40:p+%3A@p:1"), null);
        assertThat(proxy).isEqualTo(new HttpProxy("p", 1, "u@", "p+:"));
    }

    /** The JVM's Authenticator, which may have passwords of servers, is asked by nobody. */
    @Test
    void theProxyOfTheJvmGetsThePasswordOfItsOwnUrlAlone() throws IOException {
        ProxySelector selector = ProxySelector.of(InetSocketAddress.createUnresolved("p", 1));
        URI to = URI.create("https://a/");
        HttpProxy without = new HttpProxy("p", 1, "", "");
        Authenticator before = Authenticator.getDefault();
        Authenticator.setDefault(new Authenticator() {
            @Override
            protected PasswordAuthentication getPasswordAuthentication() {
                return new PasswordAuthentication("of", "servers".toCharArray());
            }
        });
        try {
            assertThat(HttpProxy.of(to, Map.of(), selector)).isEqualTo(without);
            assertThat(HttpProxy.of(to, Map.of("https_proxy", "http://u:p@other:1"), selector))
                    .isEqualTo(without);
            assertThat(HttpProxy.of(to, Map.of("https_proxy", "socks://u:p@p:1"), selector))
                    .isEqualTo(without);
            assertThat(HttpProxy.of(to, Map.of("https_proxy", "http://u:p@p:1"), selector))
                    .isEqualTo(new HttpProxy("p", 1, "u", "p"));
        } finally {
            Authenticator.setDefault(before);
        }
    }

    /** Answers with these proxies, and keeps what it was asked for. */
    private static final class Choosing extends ProxySelector {

        private final List<Proxy> chosen;
        private final List<URI> asked = new ArrayList<>();

        Choosing(Proxy... chosen) {
            this.chosen = List.of(chosen);
        }

        @Override
        public List<Proxy> select(URI uri) {
            asked.add(uri);
            return chosen;
        }

        @Override
        public void connectFailed(URI uri, SocketAddress address, IOException failure) {
            // nobody tells
        }
    }

    private static final Proxy BY_HTTP = new Proxy(Proxy.Type.HTTP, InetSocketAddress.createUnresolved("p", 1));
    private static final Proxy BY_SOCKS = new Proxy(Proxy.Type.SOCKS, InetSocketAddress.createUnresolved("s", 1));

    @Test
    void aSelectorThatChoosesNoProxyIsObeyed() throws IOException {
        Map<String, String> environment = Map.of("http_proxy", "one.example");
        URI to = URI.create("http://a.example/x");
        assertThat(HttpProxy.of(to, environment, new Choosing(Proxy.NO_PROXY))).isNull();
        assertThat(HttpProxy.of(to, environment, new Choosing(Proxy.NO_PROXY, BY_HTTP)))
                .isNull();
        assertThat(HttpProxy.of(to, environment, new Choosing(BY_HTTP, Proxy.NO_PROXY)))
                .hasToString("p:1");
        assertThat(HttpProxy.of(to, environment, ProxySelector.of(null))).isNull();
        assertThat(HttpProxy.of(to, environment, ProxySelector.getDefault()))
                .as("whose properties nobody has set")
                .hasToString("one.example:80");
    }

    @Test
    void aSelectorIsToldTheServerAndNothingThatMayBeSecret() throws IOException {
        Choosing selector = new Choosing(Proxy.NO_PROXY);
        HttpProxy.of(URI.create("https://user:secret@a.example:8443/path?signature=secret"), Map.of(), selector);
        assertThat(selector.asked).containsExactly(URI.create("https://a.example:8443"));
    }

    /** It would be used by the JDK's sockets, and so by https: alone. */
    @Test
    void aProxyOfSocksIsRefused() throws IOException {
        assertThatThrownBy(() -> HttpProxy.of(URI.create("http://a/"), Map.of(), new Choosing(BY_SOCKS)))
                .hasMessageContainingAll("must be an HTTP proxy", "SOCKS for a");
        assertThat(HttpProxy.of(URI.create("http://a/"), Map.of(), new Choosing(BY_SOCKS, BY_HTTP)))
                .hasToString("p:1");
        System.setProperty("socksProxyHost", "127.0.0.1");
        System.setProperty("http.nonProxyHosts", "");
        try (Backend own = Backends.open("host")) {
            assertThatThrownBy(() -> get(own.openFile(server.uri())))
                    .hasMessageContaining("must be an HTTP proxy")
                    .hasMessageNotContaining("attempts");
        } finally {
            System.clearProperty("socksProxyHost");
            System.clearProperty("http.nonProxyHosts");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"*", "a.example", ".example", "b, example", "*.a.example", "a.example:8080 c", "A.EXAMPLE"})
    void noProxyExceptsHostsAndWhatIsBelowThem(String list) throws IOException {
        Map<String, String> environment = Map.of("http_proxy", "one.example", "no_proxy", list);
        assertThat(proxy("http://a.example:8080/x", environment)).isEqualTo("null");
        assertThat(proxy("http://x.a.example:8080/x", environment)).isEqualTo("null");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "b.example", "xa.example", "a.example:80", "example.a"})
    void otherHostsAreNotExcepted(String list) throws IOException {
        Map<String, String> environment = Map.of("http_proxy", "one.example", "no_proxy", list);
        assertThat(proxy("http://a.example:8080/x", environment)).isEqualTo("one.example:80");
    }

    @Test
    void whatIsNoHttpProxyIsRefusedWithoutItsPassword() {
        assertThatThrownBy(() -> proxy("http://a/x", Map.of("http_proxy", "socks5://u:secret@p:1")))
                .hasMessageContainingAll("must be the URL of an HTTP proxy", "was socks5://p")
                .hasMessageNotContaining("secret");
        assertThatThrownBy(() -> proxy("http://a/x", Map.of("http_proxy", "http://u:secret secret@p:1")))
                .hasMessageContaining("must be the URL of an HTTP proxy")
                .hasMessageNotContaining("secret");
    }

    /** Opens a file in this process, by the JVM's setting. */
    private static void openBy(ForwardProxy proxy, URI uri) throws IOException {
        System.setProperty("http.proxyHost", "127.0.0.1");
        System.setProperty("http.proxyPort", proxy.address().substring(10));
        try (Backend backend = Backends.open("host");
                StorageFile file = get(backend.openFile(uri))) {
            assertThat(file.size()).isEqualTo(1000);
        } finally {
            System.clearProperty("http.proxyHost");
            System.clearProperty("http.proxyPort");
        }
    }

    @Test
    void aFileIsReadThroughTheProxyOfTheJvm() throws IOException {
        try (ForwardProxy proxy = new ForwardProxy(server.uri().getPort(), null)) {
            openBy(proxy, HIDDEN);
            assertThat(proxy.requests).containsExactly("GET http://files.invalid/file.bin HTTP/1.1");
        }
        assertThat(server.requests.get(0).headers()).containsEntry("host", "files.invalid");
    }

    @Test
    void aProxyThatDemandsAPasswordIsNotAskedAgainWithoutOne() throws IOException {
        try (ForwardProxy proxy = new ForwardProxy(server.uri().getPort(), "user:secret")) {
            assertThatThrownBy(() -> openBy(proxy, HIDDEN))
                    .hasMessageContainingAll(
                            "the proxy " + proxy.address() + " answered PROXY_AUTHENTICATION_REQUIRED (407)",
                            "must have user and password")
                    .hasMessageNotContaining("attempts");
            assertThat(proxy.requests).hasSize(1);
        }
    }

    @Test
    void theEnvironmentIsReadOnceForAProcess() throws Exception {
        try (ForwardProxy proxy = new ForwardProxy(server.uri().getPort(), "user:secret")) {
            ProcessBuilder process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            Opening.class.getName(),
                            HIDDEN.toString())
                    .redirectErrorStream(true);
            process.environment().put("http_proxy", "http://user:secret@" + proxy.address());
            Process started = process.start();
            String output = new String(started.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(started.waitFor()).as(output).isZero();
            assertThat(output).contains("1000 bytes");
            assertThat(proxy.requests).hasSize(1);
        }
    }

    /** Opens a file, and prints its length. */
    static final class Opening {

        private Opening() {}

        public static void main(String[] arguments) {
            try (Backend backend = Backends.open("host");
                    StorageFile file = get(backend.openFile(URI.create(arguments[0])))) {
                System.out.println(file.size() + " bytes");
            }
        }
    }
}
