// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.machine;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The files by which a kernel describes itself. What cannot be read is absent: it may need root, or another kernel.
 *
 * @param root the directory that {@code /} stands for
 * @param architecture {@code os.arch}
 */
public record KernelFiles(Path root, String architecture) {

    /** Returns the machine of this process. */
    public static KernelFiles here() {
        return new KernelFiles(Path.of("/"), System.getProperty("os.arch"));
    }

    /**
     * Returns whether the files that the checks read describe the kernel of this process; under Wine the files of Linux
     * are visible too.
     */
    public static boolean isLinux() {
        return System.getProperty("os.name").equals("Linux");
    }

    /** Returns the file that an absolute path stands for. */
    public Path path(String absolute) {
        return root.resolve(absolute.substring(1));
    }

    /** Returns whether there is such a file. */
    public boolean exists(String absolute) {
        return Files.exists(path(absolute));
    }

    /** Returns a file's text without the last line's end. */
    public Optional<String> text(String absolute) {
        return bytes(absolute).map(bytes -> new String(bytes, StandardCharsets.UTF_8).stripTrailing());
    }

    /** Returns a file's content. */
    public Optional<byte[]> bytes(String absolute) {
        try {
            return Optional.of(Files.readAllBytes(path(absolute)));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /**
     * Parses what the kernel writes as a decimal number, or a hexadecimal one behind {@code 0x}; empty if the text is
     * not a number, as where a driver has not filled its file.
     */
    public static Optional<Long> number(String text) {
        String digits = text.strip();
        try {
            BigInteger number =
                    digits.startsWith("0x") ? new BigInteger(digits.substring(2), 16) : new BigInteger(digits);
            return Optional.of(number.min(BigInteger.valueOf(Long.MAX_VALUE)).longValue()); // a limit has 64 bits
        } catch (NumberFormatException e) {
            return Optional.empty();
        }
    }

    /** Returns the value of a line {@code name: value}, or of any other separator of blanks and colons. */
    public Optional<String> value(String absolute, String name) {
        return text(absolute)
                .flatMap(text -> text.lines()
                        .filter(line -> line.startsWith(name))
                        .map(line -> line.substring(name.length()).replaceFirst("^[\\s:=]+", ""))
                        .findFirst());
    }

    /** Returns the names in a directory, sorted; none if it cannot be read. */
    public List<String> names(String absolute) {
        List<String> names = new ArrayList<>();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(path(absolute))) {
            entries.forEach(entry -> names.add(String.valueOf(entry.getFileName())));
        } catch (IOException e) {
            return List.of();
        }
        names.sort(null);
        return names;
    }

    /** Returns the target of a symbolic link, as it is written. */
    public Optional<Path> link(String absolute) {
        try {
            return Optional.of(Files.readSymbolicLink(path(absolute)));
        } catch (IOException | UnsupportedOperationException e) {
            return Optional.empty();
        }
    }

    /** Returns the last name of a symbolic link's target. */
    public Optional<String> linkName(String absolute) {
        return link(absolute).map(Path::getFileName).map(String::valueOf);
    }

    /** Returns whether the processor reports a hypervisor. */
    public boolean isVirtual() {
        return value("/proc/cpuinfo", "flags").orElse("").contains(" hypervisor");
    }
}
