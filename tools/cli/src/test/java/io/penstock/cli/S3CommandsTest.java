// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Options;
import io.penstock.cli.testing.CommandLineRun;
import io.penstock.tck.Require;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.gaul.s3proxy.S3Proxy;
import org.gaul.s3proxy.auth.AuthenticationType;
import org.gaul.s3proxy.nio2blob.TransientNio2BlobStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.s3.model.CreateBucketRequest;

/** Commands on objects of an S3 server. */
@Tag("once")
class S3CommandsTest {

    private static final String HEADER = "{\"a\":{\"dtype\":\"U8\",\"shape\":[9000001],\"data_offsets\":[0,9000001]}}";
    private static final String BUCKET = "s3://bucket/";

    private static final TransientNio2BlobStore STORE = new TransientNio2BlobStore();
    private static S3Proxy server;

    @TempDir
    private Path here;

    @BeforeAll
    static void start() throws Exception {
        Require.backend("certificates", OpenFilesLimitTest.CERTIFIED ? null : "no certificates of authorities");
        STORE.createContainer(CreateBucketRequest.builder().bucket("bucket").build());
        server = S3Proxy.builder()
                .blobStore(STORE)
                .endpoint(URI.create("http://127.0.0.1:0"))
                .awsAuthentication(AuthenticationType.NONE, null, null)
                .build();
        server.start();
        System.setProperty("penstock.s3.endpoint", "http://127.0.0.1:" + server.getPort());
        System.setProperty("penstock.s3.credentials", "none");
    }

    @AfterAll
    static void stop() throws Exception {
        System.clearProperty("penstock.s3.endpoint");
        System.clearProperty("penstock.s3.credentials");
        if (server != null) { // skipped
            server.stop();
        }
    }

    private byte[] model(Path path) throws IOException {
        byte[] header = HEADER.getBytes(StandardCharsets.US_ASCII);
        byte[] data = new byte[9_000_001];
        new Random(9).nextBytes(data);
        byte[] model = ByteBuffer.allocate(Long.BYTES + header.length + data.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(header.length)
                .put(header)
                .put(data)
                .array();
        Files.write(path, model);
        return model;
    }

    private static CommandLineRun run(Object... arguments) {
        CommandLineRun run = CommandLineRun.of(arguments);
        assertThat(run.err()).isEmpty();
        return run;
    }

    @Test
    void aFileGoesToAStoreAndComesBack() throws IOException {
        Path source = here.resolve("source.safetensors");
        byte[] model = model(source);
        String url = BUCKET + "folder/model.safetensors";
        assertThat(run("copy", source, url, "--verify").out()).contains("out [REMOTE]", "SHA-256 ");
        Path back = here.resolve("back");
        assertThat(run("copy", url, back).out()).contains("path in [REMOTE]");
        assertThat(back).hasBinaryContent(model);
        assertThat(run("ls", url).out()).contains("1 array, 9000001 bytes (8.6 MiB), safetensors");
        assertThat(run("load", url, "--verify").out()).contains("REMOTE", "verified");
        assertThat(CommandLineRun.of("copy", source, url).complaints()[0]).contains(url + " exists already");
        assertThat(run("copy", url, BUCKET + "other").out()).contains("copied " + model.length, "path REMOTE");
        assertThat(run("copy", source, url, "--force").out()).contains("copied");
        assertThat(STORE.listMultipartUploads("bucket")).isEmpty();
    }

    @Test
    void aFolderIsListed() throws IOException {
        Path source = Files.createFile(here.resolve("empty"));
        run("copy", source, BUCKET + "listed/one", "--force");
        run("copy", source, BUCKET + "listed/deep/two", "--force");
        assertThat(run("ls", BUCKET + "listed/").out().lines())
                .containsExactlyInAnyOrder(BUCKET + "listed/one", BUCKET + "listed/deep/", "2 objects and folders");
        assertThat(CommandLineRun.of("ls", "s3://absent/").complaints()[0]).contains("NoSuchBucket");
    }

    /** They printed the names, as if the option were not there. */
    @Test
    void aFolderIsListedAsTheOptionsDemand() throws IOException {
        Path source = Files.createFile(here.resolve("empty"));
        run("copy", source, BUCKET + "chosen/%22one%22", "--force");
        run("copy", source, BUCKET + "chosen/deep/two", "--force");
        assertThat(run("ls", BUCKET + "chosen/", "--json").out())
                .isEqualToNormalizingNewlines("{\n\"folder\": \"" + BUCKET + "chosen/\",\n\"entries\": [\"" + BUCKET
                        + "chosen/%22one%22\", \"" + BUCKET + "chosen/deep/\"]\n}\n");
        assertThat(run("ls", BUCKET + "nothing/", "--json").out()).contains("\"entries\": []");
        for (String option : new String[] {"--values=*", "--lenient"}) {
            CommandLineRun misused = CommandLineRun.of("ls", BUCKET + "chosen/", option);
            assertThat(misused.code()).as(option).isEqualTo(2);
            assertThat(misused.out()).isEmpty();
            assertThat(misused.err()).contains("--values and --lenient are for the arrays of a file");
        }
        assertThat(CommandLineRun.of("ls", BUCKET + "chosen/", "--values=*", "--json")
                        .code())
                .isEqualTo(2);
    }

    /** An object has 10000 parts at most. */
    @Test
    void partsAreAsLargeAsTheFileDemands() {
        assertThat(CopyCommand.sized(Options.none(), 78L << 30)).isEqualTo(Options.none());
        Options sized = CopyCommand.sized(Options.none(), 1L << 40);
        assertThat(sized).isEqualTo(Options.none().with("penstock.s3.part-bytes", "105MiB"));
        Options larger = Options.none().with("penstock.s3.part-bytes", "256MiB");
        assertThat(CopyCommand.sized(larger, 1L << 40)).isEqualTo(larger);
    }

    @Test
    void anEmptyFileIsAnEmptyObject() throws IOException {
        Path source = Files.createFile(here.resolve("empty"));
        run("copy", source, BUCKET + "empty");
        Path back = here.resolve("back");
        run("copy", BUCKET + "empty", back);
        assertThat(back).isEmptyFile();
    }

    /** It was written to the object {@code a}. */
    @Test
    void aUrlWithAFragmentIsRefused() throws IOException {
        Path source = Files.write(here.resolve("source"), new byte[9]);
        assertThat(CommandLineRun.of("copy", source, BUCKET + "a#b", "--force").complaints()[0])
                .contains("must be s3://BUCKET/KEY", "%23 for #");
        assertThat(CommandLineRun.of("copy", BUCKET + "a", here.resolve("a")).complaints()[0])
                .contains("there is no file " + BUCKET + "a");
        run("copy", source, BUCKET + "a%23b");
        run("copy", BUCKET + "a%23b", here.resolve("back"));
        assertThat(here.resolve("back")).hasBinaryContent(new byte[9]);
    }

    @Test
    void whatCannotBeReadIsTold() {
        assertThat(CommandLineRun.of("copy", BUCKET + "absent", here.resolve("copy"))
                        .complaints())
                .singleElement()
                .asString()
                .contains("there is no file " + BUCKET + "absent");
    }

    @Test
    void theCodeOfTheStoreIsTold() {
        assertThat(CommandLineRun.of("copy", "s3://none/absent", here.resolve("copy"))
                        .complaints()[0])
                .endsWith("there is no file s3://none/absent: GetObject -> NoSuchBucket (404)");
    }
}
