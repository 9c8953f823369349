// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.Exceptions;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** A process with as many open files as it may have, when an upload that has begun needs a connection. */
@Tag("once")
@ExtendWith(Certificates.class)
@EnabledOnOs(value = OS.LINUX, disabledReason = "a POSIX shell sets the limit")
class FewDescriptorsTest {

    private static final List<String> LIMITED = List.of("sh", "-c", "ulimit -n 256; exec \"$@\"", "sh");

    /** A name is resolved by a file; an address needs a socket alone. */
    @ParameterizedTest
    @CsvSource({
        "5242880, localhost, CreateMultipartUpload -> AWS_ERROR_SYS_CALL_FAILURE",
        "5242880, 127.0.0.1, CreateMultipartUpload -> AWS_ERROR_MAX_FDS_EXCEEDED",
        "1000, localhost, PutObject -> AWS_ERROR_SYS_CALL_FAILURE",
        "1000, 127.0.0.1, PutObject -> AWS_ERROR_MAX_FDS_EXCEEDED"
    })
    void aPartOrAnObjectIsTransientNamesTheLimitAndCanBeRetried(int bytes, String host, String answer)
            throws Exception {
        S3Server server = new S3Server(true);
        try {
            String output = OtherProcess.output(
                    LIMITED,
                    FewDescriptorsTest.class,
                    environment -> environment.put(
                            "AWS_ENDPOINT_URL_S3",
                            "http://" + host + ":" + server.proxy.uri().getPort()),
                    "-XX:-MaxFDLimit",
                    "-Dbytes=" + bytes);
            assertThat(output)
                    .contains("refused: " + TransientStorageException.class.getName())
                    .contains(answer)
                    .contains("ulimit -n")
                    .contains("done");
            assertThat(server.get("object")).hasSize(bytes);
            assertThat(server.uploads()).isEmpty();
        } finally {
            server.stop();
        }
    }

    /** Uploads, also to a bucket that is not there, which loads the classes; then without a descriptor. */
    public static void main(String[] arguments) {
        int bytes = Integer.getInteger("bytes");
        boolean isPart = bytes > 1000; // else the object is made by the sync
        Options options = Options.none().with(S3Options.PART_BYTES, 5L << 20).with(CommonOptions.REMOTE_ATTEMPTS, 2);
        try (Backend backend = Backends.open("host", options.with(CommonOptions.REMOTE_CONNECTIONS, 3));
                DeviceBuffer buffer = backend.allocate(bytes).block();
                StorageFile absent = open(backend, URI.create("s3://absent/object"));
                StorageFile object = open(backend, S3Server.uri("object"))) {
            Mono<?> nowhere = write(backend, buffer, absent).then(absent.sync());
            System.out.println(refusal(nowhere));
            System.out.println(HostFailure.ofLimit("none", new FileSystemException("", null, "Too many open files")));
            System.out.println(HostFailure.of("none", -Errno.EMFILE).exception("none"));
            write(backend, buffer, object).then(object.sync()).block();
            // Within the first backend: the descriptors of its client, which end behind its close, would be free again.
            refuseAndRetry(options, bytes, isPart);
        }
        System.exit(0);
    }

    private static void refuseAndRetry(Options options, int bytes, boolean isPart) {
        try (Backend backend = Backends.open("host", options);
                DeviceBuffer buffer = backend.allocate(bytes).block();
                StorageFile file = open(backend, S3Server.uri("object"))) {
            Mono<?> write = write(backend, buffer, file);
            if (!isPart) {
                write.block();
            }
            Mono<?> upload = isPart ? write : file.sync();
            List<FileChannel> all = new ArrayList<>();
            exhaust(all);
            Throwable refusal = refusal(upload);
            all.forEach(FewDescriptorsTest::close);
            System.out.println("refused: " + refusal);
            upload.retryWhen(Retry.backoff(10, Duration.ofMillis(50))
                            .filter(TransientStorageException.class::isInstance))
                    .block();
            file.sync().block();
            System.out.println("done");
        }
    }

    private static StorageFile open(Backend backend, URI uri) {
        return backend.openFile(uri, FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE)
                .block();
    }

    private static Mono<?> write(Backend backend, DeviceBuffer buffer, StorageFile file) {
        return backend.submit(Transfer.write(buffer.all(), file.region(0, buffer.length())));
    }

    private static Throwable refusal(Mono<?> operation) {
        return operation.materialize().block().getThrowable();
    }

    private static void exhaust(List<FileChannel> all) {
        try {
            while (true) {
                all.add(FileChannel.open(Path.of("/dev/null")));
            }
        } catch (IOException full) {
            return;
        }
    }

    private static void close(FileChannel channel) {
        try {
            channel.close();
        } catch (IOException e) {
            throw Exceptions.propagate(e);
        }
    }
}
