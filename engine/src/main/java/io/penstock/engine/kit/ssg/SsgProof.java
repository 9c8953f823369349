// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ssg;

import io.penstock.Option;
import io.penstock.Options;
import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether a driver has the extension. Opens a file, since some drivers claim the extension without having it.
 *
 * @param reason why not; empty if it does
 * @param by the driver object created from the file
 * @param blockBytes of the file
 */
public record SsgProof(String reason, String by, long blockBytes) {

    /** Returns the result for a driver without the extension. */
    public static SsgProof failed(String reason) {
        return new SsgProof(reason, "", 0);
    }

    /**
     * Makes the driver open a file for reading: one named by the user, or a temporary one.
     *
     * @param named the option that names a file on the card's disk, or is empty
     * @param by the driver object created from a file
     * @param claim the text before the reason if the driver creates none
     */
    public static SsgProof of(
            Options options, Option<String> named, SsgFileObject.Opener driver, String by, String claim) {
        try {
            return new SsgProof("", by, blockBytes(options, named, driver));
        } catch (SsgRefusal e) {
            return failed(claim + e.getMessage());
        }
    }

    /**
     * Makes the driver open a file, and returns its block size.
     *
     * @throws SsgRefusal with the driver's error, and with what else to try
     */
    static long blockBytes(Options options, Option<String> named, SsgFileObject.Opener driver) throws SsgRefusal {
        String name = options.get(named);
        try {
            return name.isEmpty() ? ofTemporary(driver) : ofFile(Path.of(name), driver);
        } catch (IOException | RuntimeException e) {
            throw new SsgRefusal(message(e) + (name.isEmpty() ? "; set a file on the card's disk in " + named : ""));
        }
    }

    /** Returns what an error says; with its name if that is nothing, or the name of a file alone. */
    private static String message(Exception error) {
        String own = error.getMessage();
        return own == null || error instanceof FileSystemException ? error.toString() : own;
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

    /** Returns whether the driver has the extension. */
    public boolean isProven() {
        return reason.isEmpty();
    }

    @Override
    public String toString() {
        return isProven() ? "SSG, proven by a " + by + ", in blocks of " + blockBytes + " bytes" : "no SSG: " + reason;
    }
}
