// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.StorageFile;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Files of Hugging Face's hub, from a server that redirects to another, which must not see the token. */
class HubTest extends ServedFile {

    HubTest() {
        super(new byte[1000]);
    }

    @ParameterizedTest
    @CsvSource({
        "hf://owner/model/a.bin, owner/model/resolve/main/a.bin",
        "hf://owner/my.model_2@v1.0/sub/a%20b.bin, owner/my.model_2/resolve/v1.0/sub/a%20b.bin",
        "hf://owner/model@refs/pr/1/a.bin, owner/model/resolve/refs%2Fpr%2F1/a.bin",
        "hf://datasets/o/s@refs/convert/parquet/d/0.parquet, datasets/o/s/resolve/refs%2Fconvert%2Fparquet/d/0.parquet",
        "hf://owner/model@refs%2Fpr%2F1/a.bin, owner/model/resolve/refs%2Fpr%2F1/a.bin",
        "hf://datasets/owner/set@main/a@b.bin, datasets/owner/set/resolve/main/a@b.bin",
        "hf://spaces/owner/space/a.bin, spaces/owner/space/resolve/main/a.bin"
    })
    void aFileIsWhereTheHubDocumentsIt(String uri, String path) throws Exception {
        assertThat(HttpProvider.Hub.resolved(URI.create(uri), Map.of())).hasToString("https://huggingface.co/" + path);
        assertThat(HttpProvider.Hub.resolved(URI.create(uri), Map.of("HF_ENDPOINT", "http://mirror:8080/")))
                .hasToString("http://mirror:8080/" + path);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "hf://owner/model@refs/pr/1",
                "hf://owner/model",
                "hf://owner/model/",
                "hf://model@main/a.bin",
                "hf://datasets/owner/set"
            })
    void whatNamesNoFileIsRefused(String uri) {
        assertThatThrownBy(() -> HttpProvider.Hub.resolved(URI.create(uri), Map.of()))
                .hasMessageContaining("must be hf://OWNER/REPO@REVISION/FILE, was hf://");
    }

    @Test
    void anIndexAndItsShardsAreReadWithTheToken() throws Exception {
        try (RangeServer store = new RangeServer(new byte[1000])) {
            server.answer = (request, to) -> {
                to.write(RangeServer.text("302 Found", "Location: " + store.uri("/blob?sig=1"), "Content-Length: 0"));
                return true;
            };
            ProcessBuilder process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            Shards.class.getName())
                    .redirectErrorStream(true);
            process.environment().put("HF_ENDPOINT", server.uri("").toString());
            process.environment().put("HF_TOKEN", "secret");
            Process started = process.start();
            String output = new String(started.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(started.waitFor()).as(output).isZero();
            assertThat(output).contains("1000 and 1000 bytes");
            String folder = "/owner/model/resolve/v1/";
            assertThat(server.requests)
                    .extracting(RangeServer.Request::target)
                    .containsExactly(folder + "model.safetensors.index.json", folder + "model-1.safetensors");
            Predicate<RangeServer.Request> authorized =
                    request -> "Bearer secret".equals(request.headers().get("authorization"));
            assertThat(server.requests).allMatch(authorized);
            assertThat(store.requests)
                    .hasSize(2)
                    .allSatisfy(request -> assertThat(request.headers()).doesNotContainKey("authorization"));
        }
    }

    /** Opens an index, and a shard beside it. */
    static final class Shards {

        private Shards() {}

        public static void main(String[] arguments) throws Exception {
            Path index = Path.of(URI.create("hf://owner/model@v1/model.safetensors.index.json"));
            long bytes = Files.size(index);
            try (Backend backend = Backends.open("host");
                    StorageFile shard = get(backend.openFile(index.resolveSibling("model-1.safetensors")))) {
                System.out.println(bytes + " and " + shard.size() + " bytes");
            }
        }
    }
}
