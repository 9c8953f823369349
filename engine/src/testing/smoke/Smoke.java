// SPDX-License-Identifier: Apache-2.0
package smoke;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Objects;

/** Reads a file through the default backend and says what it holds, and how host I/O works here. */
public final class Smoke {

    private Smoke() {}

    public static void main(String[] args) {
        System.out.println(text(args[0]));
        Backends.list().forEach(listing -> System.out.println(
                listing.name() + ": " + listing.availability().reason()));
    }

    public static String text(String file) {
        try (Backend backend = Backends.open()) {
            ByteBuffer bytes = ByteBuffer.allocate(8);
            Long read = backend.withFile(Path.of(file), FileOption.READ, opened -> backend.withBuffer(8, buffer -> backend
                            .submit(Transfer.read(opened.all(), buffer.all()))
                            .map(Completion::bytes)
                            .delayUntil(moved -> buffer.download(0, bytes))))
                    .block();
            String module = Objects.toString(Smoke.class.getModule().getName(), "no module");
            return backend.name() + " read " + read + " bytes: " + new String(bytes.array()) + " in " + module;
        }
    }
}
