// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A file is not what its format demands, or has something that this library does not support. */
public final class MalformedFileException extends RuntimeException {

    private static final long serialVersionUID = 1;
    private static final int MOST_TEXT = 600; // characters of a complaint: a file may have names of any length
    private static final int TEXT_END = 200; // of them, the last ones

    // Also those that change the direction of what follows.
    private static final Pattern CONTROL =
            Pattern.compile("[\\p{Cntrl}\\u0080-\\u009f\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069]");

    /** Creates one; the message has the file's path and the format first. */
    public MalformedFileException(Path file, String format, String complaint) {
        this(escaped(file.toString()) + ": not a valid " + format + " file: " + plain(complaint));
    }

    private MalformedFileException(String message) {
        super(message);
    }

    /** Returns the error of something that the format has, but this library does not. */
    public static MalformedFileException unsupported(Path file, String format, String complaint) {
        return new MalformedFileException(
                escaped(file.toString()) + ": not supported, as a " + format + " file: " + plain(complaint));
    }

    /** Returns a text of a file on one line, without its middle if it is long, and control characters as escapes. */
    static String plain(String text) {
        return cut(escaped(cut(text)));
    }

    private static String cut(String text) {
        return text.length() <= MOST_TEXT
                ? text
                : text.substring(0, MOST_TEXT - TEXT_END) + "..." + text.substring(text.length() - TEXT_END);
    }

    private static String escaped(String text) {
        return CONTROL.matcher(text)
                .replaceAll(found -> Matcher.quoteReplacement(
                        switch (found.group()) {
                            case "\n" -> "\\n";
                            case "\r" -> "\\r";
                            case "\t" -> "\\t";
                            default -> "\\u%04x".formatted((int) found.group().charAt(0));
                        }));
    }
}
