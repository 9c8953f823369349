// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.test.StepVerifier;

/** The objects of a folder. */
@Tag("once")
@ExtendWith(Certificates.class)
class S3ListingTest {

    private static S3Server server;

    @BeforeAll
    static void start() throws Exception {
        server = new S3Server(true);
        for (String key : List.of("a.bin", "folder/b c+d.bin", "folder/\u00e9&.bin", "folder/deep/e.bin", "folder/")) {
            server.put(key, new byte[1]);
        }
        for (int i = 0; i < 1500; i++) {
            server.put(String.format("many/%04d", i), new byte[0]);
        }
        System.setProperty("penstock.s3.endpoint", server.proxy.uri().toString());
    }

    @AfterAll
    static void stop() throws Exception {
        System.clearProperty("penstock.s3.endpoint");
        server.stop();
    }

    private static Path folder(String name) {
        return Path.of(URI.create("s3://bucket/" + name));
    }

    private static List<String> list(Path folder) throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(path -> path.toUri().toString()).toList();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "<html>log in</html>",
                "<ListBucketResult><Contents><Key>a</Key></Contents>",
                "<ListBucketResult><IsTruncated>true</IsTruncated><NextMarker>a</NextMarker></ListBucketResult>",
                "<ListBucketResult><NextContinuationToken>1</NextContinuationToken></ListBucketResult>"
            })
    void anAnswerThatIsNoWholeListingIsAnError(String answer) {
        S3Listing listing = new S3Listing(URI.create("s3://bucket/f/"), query -> answer, path -> true);
        assertThatThrownBy(() -> listing.iterator().hasNext())
                .isInstanceOf(DirectoryIteratorException.class)
                .hasMessageContaining("the listing of s3://bucket/f/");
    }

    @Test
    void aFolderHasItsObjectsAndFolders() throws IOException {
        assertThat(list(folder("folder"))).isEqualTo(list(folder("folder/")));
        assertThat(list(folder("folder/")))
                .containsExactlyInAnyOrder(
                        "s3://bucket/folder/b%20c%2Bd.bin",
                        "s3://bucket/folder/%C3%A9%26.bin", "s3://bucket/folder/deep/");
        assertThat(list(folder("")))
                .containsExactlyInAnyOrder("s3://bucket/a.bin", "s3://bucket/folder/", "s3://bucket/many/");
        assertThat(list(folder("none/"))).isEmpty();
    }

    @Test
    void aPageIsRequestedWhenItIsNeeded() throws IOException {
        server.proxy.reset();
        try (DirectoryStream<Path> many = Files.newDirectoryStream(folder("many/"))) {
            assertThat(server.proxy.requests).isEmpty();
            List<String> taken = new ArrayList<>();
            StepVerifier.create(
                            Flux.fromIterable(many)
                                    .map(path -> path.getFileName().toString())
                                    .doOnNext(taken::add),
                            0)
                    .thenRequest(1000)
                    .expectNextCount(1000)
                    .then(() -> assertThat(server.proxy.requests).hasSizeLessThanOrEqualTo(2))
                    .thenRequest(Long.MAX_VALUE)
                    .expectNextCount(500)
                    .verifyComplete();
            assertThat(taken).doesNotHaveDuplicates().hasSize(1500);
        }
        assertThat(server.proxy.requests).hasSize(2);
    }

    @Test
    void aBucketThatIsNotThereIsTold() {
        assertThatThrownBy(() -> list(Path.of(URI.create("s3://none/"))))
                .hasRootCauseInstanceOf(NoSuchFileException.class)
                .hasMessageContaining("NoSuchBucket");
    }

    /** As servers that do not know encoding-type answer. */
    @Test
    void keysMayComeAsXmlHasThem() throws IOException {
        String page = "<ListBucketResult><Contents><Size>1</Size><Key>x/a&amp;b%20</Key></Contents></ListBucketResult>";
        try (S3Listing listing = new S3Listing(URI.create("s3://bucket/x/"), query -> page, path -> true)) {
            Iterator<Path> paths = listing.iterator();
            assertThat(paths.next().toUri()).hasToString("s3://bucket/x/a%26b%2520");
            assertThat(paths.hasNext()).isFalse();
        }
        S3Listing broken = new S3Listing(
                URI.create("s3://bucket/"),
                query -> {
                    throw new IOException("gone");
                },
                path -> true);
        assertThatThrownBy(() -> broken.iterator().hasNext()).isInstanceOf(DirectoryIteratorException.class);
    }
}
