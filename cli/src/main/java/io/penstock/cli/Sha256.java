// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.function.LongConsumer;

/** The checksum that verifies a copy; computed with the JDK alone, so that Penstock does not verify itself. */
final class Sha256 {

    private Sha256() {}

    static String of(Path path, LongConsumer progress) throws IOException {
        MessageDigest digest = digest();
        byte[] bytes = new byte[1 << 18];
        long done = 0;
        try (InputStream in = Files.newInputStream(path)) {
            for (int read = in.read(bytes); read >= 0; read = in.read(bytes)) {
                digest.update(bytes, 0, read);
                done += read;
                progress.accept(done);
            }
        }
        return HexFormat.of().formatHex(digest.digest());
    }

    private static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }
}
