// SPDX-License-Identifier: Apache-2.0
package org.example.app;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Transfer;
import java.nio.file.Path;

/** Reads a file, and prints how many bytes came and by which path. */
public final class Main {

    private Main() {}

    public static void main(String[] arguments) {
        try (Backend backend = Backends.open()) {
            System.out.println(backend.withFile(
                            Path.of(arguments[0]),
                            FileOption.READ,
                            file -> backend.withBuffer(
                                    file.size(),
                                    buffer -> backend.submit(Transfer.read(file.all(), buffer.all()))
                                            .map(done -> done.bytes() + " bytes, path " + done.path())))
                    .block());
        }
    }
}
