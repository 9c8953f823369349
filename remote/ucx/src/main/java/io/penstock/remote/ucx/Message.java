// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.engine.kit.ffi.NativeMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The header of an active message: what it is about; data may follow.
 *
 * @param code of {@link Kind#FAILED}, one of {@link Refusal}; else 0
 * @param id chosen by the reader, and repeated in the answer
 * @param export chosen by the listener
 * @param offset in the file; of {@link Kind#OPENED}, its size
 * @param length of the requested data; of {@link Kind#OPENED}, the access: {@link UcxExport#READ},
 *     {@link UcxExport#WRITE}
 */
record Message(Kind kind, int code, long id, long export, long offset, long length) {

    static final int BYTES = 40;

    /** What a message is about. */
    enum Kind {
        /** Opens the file of a token, which follows. */
        OPEN(0),
        OPENED(1),
        READ(2),
        /** The requested data. */
        DATA(3),
        /** Writes the data that follows. */
        WRITE(4),
        SYNC(5),
        /** A write or a sync has ended. */
        DONE(6),
        /** A request was refused or has failed; the reason follows, in UTF-8. */
        FAILED(7),
        /** The reader closes a file. */
        CLOSE(8),
        /** The export of a file has ended. */
        REVOKED(9);

        final int number;

        Kind(int number) {
            this.number = number;
        }
    }

    /** Why a request has failed. */
    enum Refusal {
        NO_SUCH_EXPORT(0),
        REVOKED(1),
        TRANSIENT(2),
        PERMANENT(3);

        final int number;

        Refusal(int number) {
            this.number = number;
        }

        static Refusal of(int number) {
            for (Refusal refusal : values()) {
                if (refusal.number == number) {
                    return refusal;
                }
            }
            return PERMANENT;
        }
    }

    private static final Kind[] KINDS = Kind.values(); // by number

    static Message of(Kind kind, long id, long export) {
        return new Message(kind, 0, id, export, 0, 0);
    }

    /** Writes it to {@link #BYTES} bytes of memory. */
    void write(long address) {
        view(address)
                .putInt(kind.number)
                .putInt(code)
                .putLong(id)
                .putLong(export)
                .putLong(offset)
                .putLong(length);
    }

    /**
     * Returns the header at an address.
     *
     * @throws IllegalArgumentException if it is none
     */
    static Message read(long address, long bytes) {
        if (bytes != BYTES) {
            throw new IllegalArgumentException("a header must have " + BYTES + " bytes, had " + bytes);
        }
        ByteBuffer view = view(address);
        int kind = view.getInt();
        if (kind < 0 || kind >= KINDS.length) {
            throw new IllegalArgumentException("the kind of a message must be below " + KINDS.length + ", was " + kind);
        }
        return new Message(KINDS[kind], view.getInt(), view.getLong(), view.getLong(), view.getLong(), view.getLong());
    }

    private static ByteBuffer view(long address) {
        return NativeMemory.view(address, BYTES).order(ByteOrder.LITTLE_ENDIAN);
    }
}
