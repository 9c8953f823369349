// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.spi.ssg;

import io.penstock.Option;
import io.penstock.Options;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Whether a driver makes an object of a file: the only proof of an extension that drivers claim which have it not. */
public final class SsgTrial {

    private SsgTrial() {}

    /**
     * Has the driver open a file for reading, and returns its block size. The file is the one that the user names, or a
     * temporary one.
     *
     * @param named names a file on the card's disk, or is empty
     * @throws SsgRefusal with the driver's answer, and with what else to try
     */
    public static long blockBytes(Options options, Option<String> named, SsgFileObject.Opener driver)
            throws SsgRefusal {
        String name = options.get(named);
        try {
            return name.isEmpty() ? ofTemporary(driver) : ofFile(Path.of(name), driver);
        } catch (IOException | RuntimeException e) {
            throw new SsgRefusal(
                    e.getMessage() + (name.isEmpty() ? "; a file on the card's disk can be named in " + named : ""));
        }
    }

    private static long ofTemporary(SsgFileObject.Opener driver) throws IOException {
        Path file = Files.write(Files.createTempFile("penstock-ssg", null), new byte[1]);
        try {
            return ofFile(file, driver);
        } finally {
            Files.delete(file);
        }
    }

    private static long ofFile(Path file, SsgFileObject.Opener driver) throws IOException {
        SsgFileObject object = driver.open(file, false);
        try {
            return object.blockBytes();
        } finally {
            object.release();
        }
    }
}
