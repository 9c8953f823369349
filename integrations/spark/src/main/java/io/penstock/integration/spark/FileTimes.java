// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * The times of the last modification of files, by which a task detects that one was replaced after the query was
 * planned. In milliseconds, as in Hadoop: file systems of different hosts may round finer times differently.
 *
 * @param millis the times, by path
 */
record FileTimes(Map<String, Long> millis) implements Serializable {

    FileTimes {
        millis = Map.copyOf(millis);
    }

    /** Returns the times of files; a file that is missing has none, and reading it fails. */
    static FileTimes of(Collection<Path> files) throws IOException {
        return new FileTimes(Map.of()).with(files);
    }

    /** Returns these times, and the times of further files. */
    FileTimes with(Collection<Path> files) throws IOException {
        Map<String, Long> all = new HashMap<>(millis);
        for (Path file : files) {
            if (!all.containsKey(file.toString())) {
                try {
                    all.put(file.toString(), millis(file));
                } catch (NoSuchFileException gone) {
                    // its reader reports it
                }
            }
        }
        return new FileTimes(all);
    }

    /** Returns the times of some files only. */
    FileTimes only(Collection<String> paths) {
        Map<String, Long> some = new HashMap<>();
        for (String path : paths) { // each split has the times of its own files only
            Long known = millis.get(path);
            if (known != null) {
                some.put(path, known);
            }
        }
        return new FileTimes(some);
    }

    /** Throws if a file, which was just read, was modified after its time was taken. */
    void check(String path) throws IOException {
        Long planned = millis.get(path);
        if (planned != null && planned != millis(Path.of(path))) {
            throw new IOException("the file was changed since the query was planned, load it again: " + path);
        }
    }

    private static long millis(Path file) throws IOException {
        return Files.getLastModifiedTime(file).toMillis();
    }
}
