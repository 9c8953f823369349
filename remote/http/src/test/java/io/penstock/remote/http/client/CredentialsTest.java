// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Options;
import io.penstock.StorageFile;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tokens, passwords and headers: which server receives them, and that nobody else does. */
class CredentialsTest extends ServedFile {

    private static final String HUB = "https://huggingface.co/owner/model/resolve/main/model.safetensors";

    @TempDir
    private Path folder;

    CredentialsTest() {
        super(new byte[1000]);
    }

    private static String basic(String login) {
        return "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8));
    }

    private String sent(String uri, String headers, Map<String, String> environment) throws IOException {
        URI to = URI.create(uri);
        return String.valueOf(Credentials.of(to, headers, environment, folder).headers(to));
    }

    private String headers(String... lines) throws IOException {
        return Files.write(folder.resolve("headers"), java.util.List.of(lines)).toString();
    }

    private void reopen(String headers) {
        backend.close();
        backend = backend(Options.none().with("penstock.http.headers", headers));
    }

    private String localhost() {
        return "localhost:" + server.uri().getPort();
    }

    @Test
    void headersOfTheFileAreSentToTheirHostWithEachRequest() throws IOException {
        reopen(headers(
                "# comment",
                "",
                "localhost Authorization: Bearer of another port",
                localhost() + " Authorization: Bearer secret",
                localhost() + " X-Team: one, two",
                "other.example X-Other: x"));
        get(backend.openFile(server.uri())).close();
        assertThat(server.requests)
                .allSatisfy(request -> assertThat(request.headers())
                        .containsEntry("authorization", "Bearer secret")
                        .containsEntry("x-team", "one, two")
                        .doesNotContainKey("x-other"));
    }

    @Test
    void aHostWithoutAPortIsOneOfHttps() throws IOException {
        String file = headers("a.example Authorization: Bearer secret", "b.example:80 X: y");
        assertThat(sent("https://a.example/f", file, Map.of())).contains("secret");
        assertThat(sent("http://a.example/f", file, Map.of())).isEqualTo("{}");
        assertThat(sent("http://b.example/f", file, Map.of())).isEqualTo("{X=y}");
    }

    @Test
    void aRedirectionTakesThemNoFurtherThanTheOrigin() throws IOException {
        reopen(headers(localhost() + " Authorization: Bearer secret"));
        try (RangeServer other = new RangeServer(new byte[1000])) {
            server.answer = (request, to) -> {
                String location = request.target().equals("/file.bin")
                        ? "/next"
                        : other.uri().toString();
                to.write(RangeServer.text("302 Found", "Location: " + location, "Content-Length: 0"));
                return true;
            };
            get(backend.openFile(server.uri())).close();
            assertThat(server.requests).hasSize(2);
            assertThat(server.requests.get(1).headers()).containsEntry("authorization", "Bearer secret");
            assertThat(other.requests)
                    .singleElement()
                    .satisfies(request -> assertThat(request.headers()).doesNotContainKey("authorization"));
        }
    }

    @Test
    void aRefusalBehindARedirectionTellsThatNoneWereSentThere() throws IOException {
        reopen(headers(localhost() + " Authorization: Bearer secret"));
        try (RangeServer other = new RangeServer(new byte[1000])) {
            server.answer = (request, to) -> {
                to.write(RangeServer.text("302 Found", "Location: " + other.uri(), "Content-Length: 0"));
                return true;
            };
            other.answer = (request, to) -> {
                to.write(RangeServer.text("401 Unauthorized", "Content-Length: 0"));
                return true;
            };
            assertThatThrownBy(() -> get(backend.openFile(server.uri())))
                    .hasMessageContainingAll("UNAUTHORIZED (401)", "not sent where a redirection leads")
                    .hasMessageNotContaining("with the credentials of");
        }
    }

    @Test
    void aUserInTheUriIsSentAndInNoMessage() {
        URI named = URI.create(server.uri().toString().replace("//", "//us%40er:sec+ret@"));
        try (StorageFile file = get(backend.openFile(named))) {
            assertThat(file.toString()).doesNotContain("sec+ret");
        }
        assertThat(server.requests.get(0).headers()).containsEntry("authorization", basic("us@er:sec+ret"));
        server.answer = (request, to) -> {
            to.write(RangeServer.text("401 Unauthorized", "Content-Length: 0"));
            return true;
        };
        assertThatThrownBy(() -> get(backend.openFile(named)))
                .hasMessageContainingAll("UNAUTHORIZED (401)", "with the credentials of the URL")
                .hasMessageNotContaining("sec+ret");
        assertThatThrownBy(() -> get(backend.openFile(server.uri())))
                .hasMessageContainingAll("UNAUTHORIZED (401)", "penstock.http.headers", ".netrc");
    }

    @Test
    void aLineThatIsNoHeaderIsRefusedWithoutItsText() throws IOException {
        reopen(headers("# tokens", localhost() + " secret"));
        assertThatThrownBy(() -> get(backend.openFile(server.uri())))
                .hasMessageContainingAll("line 2 of " + folder.resolve("headers"), "must be HOST NAME: VALUE")
                .hasMessageNotContaining("secret");
        reopen(folder.resolve("missing").toString());
        assertThatThrownBy(() -> get(backend.openFile(server.uri())))
                .hasMessageContaining("penstock.http.headers=" + folder.resolve("missing") + " cannot be read");
    }

    @Test
    void theTokenOfTheHubIsSentToTheHubAlone() throws IOException {
        Map<String, String> token = Map.of("HF_TOKEN", "secret");
        assertThat(sent(HUB, "", token)).isEqualTo("{Authorization=Bearer secret}");
        assertThat(sent("https://other.example/x", "", token)).isEqualTo("{}");
        assertThat(sent(HUB.replace("https", "http"), "", token)).isEqualTo("{}");
        Map<String, String> mirror = Map.of("HF_TOKEN", "secret", "HF_ENDPOINT", "http://mirror.example:8080");
        assertThat(sent(HUB, "", mirror)).isEqualTo("{}");
        assertThat(sent("http://mirror.example:8080/x", "", mirror)).isEqualTo("{Authorization=Bearer secret}");
        assertThat(sent(HUB, headers("huggingface.co Authorization: Bearer own"), token))
                .isEqualTo("{Authorization=Bearer own}");
    }

    @Test
    void passwordsAreTakenFromNetrc() throws IOException {
        Files.writeString(folder.resolve(".netrc"), """
                machine one.example login u1 password p1
                # machine three.example login no password no
                macdef init
                machine three.example login macro password macro

                machine Two.example
                  login "u 2" account a
                  password "p \\"2\\""
                default login any password any
                """);
        assertThat(sent("https://one.example/x", "", Map.of())).contains(basic("u1:p1"));
        assertThat(sent("https://two.example:8443/x", "", Map.of())).contains(basic("u 2:p \"2\""));
        assertThat(sent("https://three.example/x", "", Map.of())).isEqualTo("{}");
        String other = Files.writeString(folder.resolve("other"), "machine one.example login u3 password p3")
                .toString();
        assertThat(sent("https://one.example/x", "", Map.of("NETRC", other))).contains(basic("u3:p3"));
    }
}
