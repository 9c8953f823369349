// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.backend.host.faults.FuseMount.On;
import io.penstock.file.PartFile;
import io.penstock.tck.Bench;
import io.penstock.tck.Rules;
import io.penstock.tck.TckSubject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.publisher.Mono;

/** File systems that refuse to set what belongs to a name, as CIFS and many of FUSE: files are written all the same. */
@Tag(Tool.FAULTS)
@Tag("slow")
class RefusedAttributesTest implements Rules {

    @Override
    public TckSubject subject() {
        return FaultSubject.pool();
    }

    @ParameterizedTest
    @CsvSource({
        "MODE, 1, its permissions",
        "MODE, 95, its permissions",
        "OWNER, 1, its owner",
        "OWNER, 95, its group",
        "ATTRIBUTE, 1, 'its ACL or an extended attribute'",
        "ATTRIBUTE, 95, 'its ACL or an extended attribute'",
    })
    void whatReplacesAFileIsWrittenAndTheRefusalTold(On refused, int errno, String what, Bench bench)
            throws IOException {
        FuseMount fuse = FuseMount.of(bench, Map.of("OWNED", "1"));
        Path target = fuse.file();
        Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rw-r-----"));
        fuse.fail(refused, 0, errno, FuseMount.EVER);
        String told = logged(() -> {
            try (PartFile part = PartFile.create(target, true, null)) { // as copy --force
                part.fill(path -> Files.writeString(path, "first"));
                part.commit();
            }
            assertThat(target).hasContent("first");
            ByteBuffer bytes = ByteBuffer.wrap("second".getBytes(StandardCharsets.US_ASCII));
            PartFile.write(target, bytes, path -> Mono.just(true)).block(); // as ArrayWriter, and uploads
            assertThat(target).hasContent("second");
        });
        assertThat(told).contains("the new file " + target + " cannot have " + what);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
                .as("readable by no more than before")
                .isIn("rw-r-----", "rw-------");
        assertNothingElse(target);
    }

    @ParameterizedTest
    @CsvSource({"1", "95"})
    void aNewFileIsWrittenWithThePermissionsThatItWasCreatedWith(int errno, Bench bench) throws IOException {
        FuseMount fuse = FuseMount.of(bench);
        fuse.fail(On.MODE, 0, errno, FuseMount.EVER);
        Path target = fuse.file().resolveSibling("new");
        String told = logged(() -> {
            try (PartFile part = PartFile.create(target, false, PosixFilePermissions.fromString("rw-r-----"))) {
                part.fill(path -> Files.writeString(path, "whole"));
                part.commit();
            }
        });
        assertThat(target).hasContent("whole");
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(target)))
                .isEqualTo("rw-r-----");
        assertThat(told).contains("the new file " + target + " cannot have its permissions");
        assertNothingElse(target, fuse.file());
    }

    private static void assertNothingElse(Path... files) throws IOException {
        try (Stream<Path> left = Files.list(files[0].resolveSibling(""))) {
            assertThat(left).containsExactlyInAnyOrder(files);
        }
    }

    private interface Work {
        void run() throws IOException;
    }

    private static String logged(Work work) throws IOException {
        PrintStream usual = System.err;
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        try {
            System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
            work.run();
        } finally {
            System.setErr(usual);
        }
        return logged.toString(StandardCharsets.UTF_8);
    }
}
