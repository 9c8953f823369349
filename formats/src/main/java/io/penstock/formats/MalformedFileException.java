// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;

/** A file is not what its format demands, or has something that this library does not support. */
public final class MalformedFileException extends RuntimeException {

    private static final long serialVersionUID = 1;
    private static final int MOST_TEXT = 1000; // characters of a complaint: a file may have names of any length
    private static final int TEXT_END = 300; // of them, the last ones

    /** Creates one; the message has the file's path and the format first. */
    public MalformedFileException(Path file, String format, String complaint) {
        this(file + ": not a valid " + format + " file: " + plain(complaint));
    }

    private MalformedFileException(String message) {
        super(message);
    }

    /** Returns the error of something that the format has, but this library does not. */
    public static MalformedFileException unsupported(Path file, String format, String complaint) {
        return new MalformedFileException(file + ": not supported, as a " + format + " file: " + plain(complaint));
    }

    /** Returns a text of a file on one line, without its middle if it is long. */
    static String plain(String text) {
        String cut = text.length() <= MOST_TEXT
                ? text
                : text.substring(0, MOST_TEXT - TEXT_END) + "..." + text.substring(text.length() - TEXT_END);
        return cut.replaceAll("[\\p{Cntrl}\\u0080-\\u009f\\u2028\\u2029]", "?");
    }
}
