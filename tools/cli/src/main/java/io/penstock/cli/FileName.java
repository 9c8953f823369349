// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A file on the command line: a path, or a URL. */
final class FileName implements ITypeConverter<Path> {

    private static final char REPLACEMENT = '\uFFFD';
    private static final Pattern URL = Pattern.compile("[A-Za-z][A-Za-z0-9+.-]+://.*");

    /** What may be secret of a text that is no URL: a user, and a query. */
    private static final Pattern SECRETS = Pattern.compile("(?<=://)[^/?]*@|\\?.*");

    /**
     * Converts a path.
     *
     * @throws TypeConversionException if it is empty, for example from an unset variable of a shell: it would denote
     *     the working directory; if it is a URL; if bytes of it could not be decoded; or if it is relative to a working
     *     directory that this locale cannot represent
     */
    static Path path(String text) {
        if (text.isEmpty()) {
            throw new TypeConversionException("a file name must not be empty");
        }
        if (URL.matcher(text).matches()) {
            throw new TypeConversionException("must be a path, was a URL; ls, load and copy take URLs");
        }
        refuseReplaced(text);
        Path path = Path.of(text);
        if (!path.isAbsolute() && isWorkingDirectoryUnreadable()) {
            throw new TypeConversionException(Complaint.UNREADABLE_DIRECTORY);
        }
        return path;
    }

    /** Refuses a name in which the JDK has replaced bytes that it could not decode: it is the name of another file. */
    private static void refuseReplaced(String text) {
        if (text.indexOf(REPLACEMENT) >= 0) {
            throw new TypeConversionException(Complaint.UNREADABLE_NAME);
        }
    }

    /**
     * Returns whether the JDK would look for relative names elsewhere: it knows the working directory by its name, with
     * ? for what is lost.
     */
    private static boolean isWorkingDirectoryUnreadable() {
        Path directory = Path.of("").toAbsolutePath();
        String name = directory.toString();
        return (name.indexOf('?') >= 0 || Complaint.isUnreadable(name)) && Files.notExists(directory);
    }

    @Override
    public Path convert(String text) {
        if (!URL.matcher(text).matches()) {
            return path(text);
        }
        refuseReplaced(text);
        try {
            return Path.of(URI.create(text));
        } catch (FileSystemNotFoundException e) {
            throw new TypeConversionException("the commands take no " + text.substring(0, text.indexOf(':'))
                    + ": URLs; file:, http:, https:, hf: and s3: can be read");
        } catch (IllegalArgumentException e) {
            String why = e.getCause() instanceof URISyntaxException syntax
                    ? syntax.getReason() + " at index " + syntax.getIndex() // its message has the whole text
                    : e.getMessage();
            throw new TypeConversionException("'" + SECRETS.matcher(text).replaceAll("") + "' is not a URL: " + why);
        }
    }

    /** Returns whether a file is on another host. */
    static boolean isRemote(Path path) {
        return path.getFileSystem() != FileSystems.getDefault();
    }

    /** Returns whether a file on another host can be written. */
    static boolean isWritable(Path path) {
        return path.getFileSystem().provider().getScheme().equals("s3");
    }
}
