// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.BackendUnavailableException;
import io.penstock.PenstockException;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.jspecify.annotations.Nullable;
import reactor.core.Exceptions;

/** Formats errors as messages for the user. */
public final class Complaint {

    static final String UNREADABLE_NAME = "a file name " + unreadable("rename the file");

    static final String UNREADABLE_DIRECTORY = "the working directory " + unreadable("go elsewhere");

    private static final int MOST_ASCII = 0x7f;

    private Complaint() {}

    /** Returns the message for an error, on one line, without control characters and without a list of all backends. */
    public static String of(Throwable thrown) {
        String text = text(thrown);
        return TextTable.plain(listsBackends(thrown) ? text.replaceFirst("(?s); providers:\n.*", "") : text);
    }

    /** As {@link #of}, for a terminal: with the list of all backends, a line for each. */
    static String lines(Throwable thrown) {
        return listsBackends(thrown) ? TextTable.plainLines(text(thrown)) : of(thrown);
    }

    private static boolean listsBackends(Throwable thrown) {
        return Exceptions.unwrap(thrown) instanceof BackendUnavailableException;
    }

    /** Returns the message; the JDK's own of a limit, "Too many open files", does not say which, nor what to do. */
    private static String text(Throwable thrown) {
        Throwable e = Exceptions.unwrap(thrown);
        String text = withoutRemedy(e);
        String remedy = HostFailure.remedy(e);
        return remedy.isEmpty() || text.contains(remedy) ? text : text + "; " + remedy;
    }

    private static String withoutRemedy(Throwable e) {
        if (e instanceof FileSystemException file && e.getClass() != FileSystemException.class) {
            return ofKnown(file);
        }
        if (e instanceof FileSystemException file) {
            return file.getFile() + ": " + reason(file.getReason(), "cannot be used");
        }
        if (e instanceof PenstockException moving && isFull(moving)) {
            return "disk full: " + e.getMessage();
        }
        if (e instanceof InvalidPathException name && isUnreadable(name.getInput())) {
            return UNREADABLE_NAME;
        }
        if (e instanceof OutOfMemoryError) {
            return "out of memory: " + e.getMessage();
        }
        boolean plain = e instanceof IOException
                || e instanceof PenstockException
                || e instanceof MalformedFileException
                || e instanceof IllegalArgumentException
                || e instanceof IllegalStateException;
        return plain ? reason(e.getMessage(), e.toString()) : e.toString();
    }

    /**
     * The JDK takes a name by the locale: where that is UTF-8 already, the name is not, and another locale would not
     * help.
     */
    private static String unreadable(String otherwise) {
        return System.getProperty("sun.jnu.encoding", "").equalsIgnoreCase("UTF-8")
                ? "has bytes that are not UTF-8, which Java cannot name; " + otherwise
                : "has characters that this locale cannot represent; set LC_ALL=C.UTF-8 if it is UTF-8, or "
                        + otherwise;
    }

    /** Returns whether the locale is the likely cause if a name cannot be converted to a path. */
    static boolean isUnreadable(String name) {
        return name.chars().anyMatch(c -> c > MOST_ASCII);
    }

    private static boolean isFull(PenstockException e) {
        return e.nativeError().filter(error -> error.symbol().equals("ENOSPC")).isPresent();
    }

    private static String ofKnown(FileSystemException e) {
        if (e instanceof NoSuchFileException) {
            return "there is no file " + e.getFile() + answer(e);
        }
        if (e instanceof AccessDeniedException) {
            return e.getFile() + ": permission denied" + answer(e);
        }
        if (e instanceof FileAlreadyExistsException) {
            return e.getFile() + " exists already";
        }
        if (e instanceof NotDirectoryException) {
            return e.getFile() + " is not a directory";
        }
        return e.getFile() + ": " + reason(e.getReason(), e.getClass().getSimpleName());
    }

    /** Returns what another host has answered, such as its code for a signature that is wrong. */
    private static String answer(FileSystemException e) {
        return e.getReason() == null ? "" : ": " + e.getReason();
    }

    private static String reason(@Nullable String reason, String otherwise) {
        return reason == null || reason.isBlank() ? otherwise : reason;
    }
}
