// SPDX-License-Identifier: Apache-2.0
package io.penstock.file;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;

/** What the JDK cannot do with files of Linux; the engine implements it. */
public interface NativeFiles {

    /** The files of this process. Without native code there are no unnamed files, and ACLs are not known. */
    static NativeFiles ofSystem() {
        return Loaded.FILES;
    }

    /**
     * Creates an empty file without a name: the kernel frees it when the process ends, in any way. Empty where there
     * are none.
     *
     * @param mode its permissions, less the umask
     */
    default Optional<Unnamed> unnamed(Path folder, int mode) {
        return Optional.empty();
    }

    /**
     * Gives {@code to} the ACL and the extended attributes of {@code from}, except attributes that vouch for its
     * content, and removes an ACL that it has from its folder.
     *
     * @throws IOException if some are refused; the others have been copied
     */
    default void copyAttributes(Path from, Path to) throws IOException {}

    /**
     * Returns the error of a call that met the limit of open files, of the process or the machine: transient, with the
     * remedy. Other errors are returned as they are.
     */
    default Throwable ofLimit(Throwable refused) {
        return refused;
    }

    /** A file without a name. */
    interface Unnamed extends AutoCloseable {

        /** Returns a path by which this process can open it. */
        Path path();

        /**
         * Gives it a name in the file system that it is in.
         *
         * @throws java.nio.file.FileAlreadyExistsException if the name exists, whatever it refers to
         */
        void link(Path name) throws IOException;

        /** Frees the file if it does not have a name. */
        @Override
        void close();
    }

    /** Loaded once. */
    final class Loaded {

        private static final NativeFiles FILES = load();

        private Loaded() {}

        private static NativeFiles load() {
            try {
                return ServiceLoader.load(NativeFiles.class, NativeFiles.class.getClassLoader())
                        .findFirst()
                        .orElseGet(Loaded::none);
            } catch (ServiceConfigurationError | LinkageError e) {
                return none();
            }
        }

        private static NativeFiles none() {
            return new NativeFiles() {};
        }
    }
}
