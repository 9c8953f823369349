// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.remote;

import io.penstock.FileOption;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.spi.AsyncFile;
import io.penstock.spi.OptionProvider;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * Opens files on other hosts; loaded by {@link java.util.ServiceLoader}. If a provider of {@code java.nio.file}
 * implements it too, the paths of that one are opened by it.
 *
 * <p>Thread-safe. A provider's constructor does nothing that can fail.
 */
public interface RemoteProvider extends OptionProvider {

    /** Returns the schemes of the URIs that it opens, in lower case, for example {@code https}. */
    Set<String> schemes();

    /** Returns the options with which it opens files. */
    default Set<FileOption> fileOptions() {
        return Set.of(FileOption.READ, FileOption.IMMUTABLE);
    }

    /**
     * {@inheritDoc} None, unless overridden; a module that has some is named as a service of {@link OptionProvider}
     * too.
     */
    @Override
    default List<Option<?>> options() {
        return List.of();
    }

    /**
     * Opens a file. May block. The caller closes it.
     *
     * @param fileOptions some of {@link #fileOptions}, which do not contradict each other
     * @param options resolved; {@link io.penstock.CommonOptions} has the options for other hosts
     * @throws java.nio.file.NoSuchFileException if the host has no such file
     * @throws java.nio.file.AccessDeniedException if the host refuses access
     * @throws java.nio.file.FileAlreadyExistsException if it exists, and CREATE_NEW is among the options
     * @throws io.penstock.engine.spi.NativeException for other answers of the host
     * @throws IOException if the host cannot be reached
     */
    AsyncFile open(URI uri, Set<FileOption> fileOptions, Options options) throws IOException;

    /** Returns a URI without what may be secret: user information, and the query, which may be a signature. */
    static String name(URI uri) {
        String authority = Objects.requireNonNullElse(uri.getRawAuthority(), "");
        return uri.getScheme() + "://" + authority.substring(authority.lastIndexOf('@') + 1) + uri.getRawPath();
    }
}
