// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import java.nio.file.Path;

/** A file is not what its format demands, or has something that this library does not support. */
public final class MalformedFileException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** Creates one; the message has the file's path and the format first. */
    public MalformedFileException(Path file, String format, String complaint) {
        super(file + ": not a valid " + format + " file: " + complaint);
    }
}
