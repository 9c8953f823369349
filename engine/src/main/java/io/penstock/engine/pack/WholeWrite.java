// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.pack;

import io.penstock.Pack;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.LibC;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.UnnamedFile;
import io.penstock.file.PartFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Optional;

/** Writes one small file as a whole: without a name until it has its bytes, where the system has such files. Blocks. */
final class WholeWrite {

    private static final int MODE = 0666; // less the umask

    private WholeWrite() {}

    /** Returns the entry, with an error if the file could not be written. */
    static Pack.Entry of(Pack.Entry entry, ByteBuffer pack, Pack.Writing how) {
        ByteBuffer bytes = pack.slice((int) entry.offset(), (int) entry.length());
        try {
            if (!isLinked(entry.path().toAbsolutePath(), bytes, how)) {
                replace(entry.path(), bytes, how);
            }
            return entry;
        } catch (IOException | RuntimeException e) {
            return new Pack.Entry(entry.path(), entry.offset(), 0, e);
        }
    }

    /** Writes a new file; returns whether it did: not if there are no such files, or it has one to replace. */
    private static boolean isLinked(Path path, ByteBuffer bytes, Pack.Writing how) throws IOException {
        Path folder = path.getParent();
        Optional<UnnamedFile> unnamed = folder == null ? Optional.empty() : UnnamedFile.in(folder, MODE);
        if (unnamed.isEmpty()) {
            return false;
        }
        try (UnnamedFile file = unnamed.get()) {
            fill(file, path, bytes);
            if (how.syncs()) {
                check("fsync", path, LibC.orErrno(LibC.fsync(file.fd())));
            }
            file.link(path);
            return true;
        } catch (FileAlreadyExistsException e) {
            if (how.replaces()) {
                return false;
            }
            throw e;
        }
    }

    private static void fill(UnnamedFile file, Path path, ByteBuffer bytes) throws IOException {
        long from = bytes.hasRemaining() ? NativeMemory.address(bytes) : 0;
        for (long done = 0; done < bytes.limit(); ) {
            long answer = LibC.orErrno(LibC.pwrite(file.fd(), from + done, bytes.limit() - done, done));
            check("pwrite", path, answer);
            done += answer;
        }
    }

    private static void check(String call, Path path, long answer) throws ErrnoException {
        if (answer < 0) {
            throw new ErrnoException(call + " of " + path, call, (int) -answer);
        }
    }

    /** Writes a file that may replace one, with its attributes: by the JDK's means. */
    private static void replace(Path path, ByteBuffer bytes, Pack.Writing how) throws IOException {
        try (PartFile part = PartFile.create(path, how.replaces(), null)) {
            try (FileChannel channel = FileChannel.open(part.path(), StandardOpenOption.WRITE)) {
                while (bytes.hasRemaining()) {
                    channel.write(bytes);
                }
                if (how.syncs()) {
                    channel.force(true);
                }
            }
            part.name();
        }
    }
}
