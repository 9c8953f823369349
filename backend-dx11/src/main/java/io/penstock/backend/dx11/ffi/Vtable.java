// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.SymbolProvider;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/**
 * The table of functions of one COM interface, or of one with the same layout: its id, and the methods in use, each
 * with its index. A class {@linkplain #bind binds} its native methods to these indexes, not to functions: Direct3D
 * objects change their tables during their lifetime, so each call looks up the function in the object's table.
 *
 * <p>{@link Thunks} does the look-up.
 */
public final class Vtable {

    private final String name;
    private final byte[] id;
    private final Map<String, Integer> slots;

    private Vtable(String name, byte[] id, Map<String, Integer> slots) {
        this.name = name;
        this.id = id;
        this.slots = slots;
    }

    /**
     * Describes one.
     *
     * @param name of the interface
     * @param id its IID, without braces
     * @param slots {@code Method=index}, separated by blanks; inherited methods belong to their own interface
     */
    static Vtable of(String name, String id, String slots) {
        return new Vtable(name, guid(id), places(slots));
    }

    /** Describes a table that is not COM's and does not have an id. */
    static Vtable of(String name, String slots) {
        return new Vtable(name, new byte[0], places(slots));
    }

    private static Map<String, Integer> places(String slots) {
        Map<String, Integer> places = new HashMap<>();
        for (String entry : slots.strip().split("\\s+")) {
            int equals = entry.indexOf('=');
            places.put(entry.substring(0, equals), Integer.valueOf(entry.substring(equals + 1)));
        }
        return Map.copyOf(places);
    }

    /** Returns the 16 bytes of a GUID: three numbers in native byte order, then bytes. */
    static byte[] guid(String text) {
        UUID uuid = UUID.fromString(text);
        long high = uuid.getMostSignificantBits();
        return ByteBuffer.allocate(16)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt((int) (high >>> 32))
                .putShort((short) (high >>> 16))
                .putShort((short) high)
                .order(ByteOrder.BIG_ENDIAN)
                .putLong(uuid.getLeastSignificantBits())
                .array();
    }

    /**
     * Binds the native methods of a class to the tables that name them; their first argument is the object. A method of
     * several tables has the same index in each.
     */
    static void bind(Class<?> methods, Vtable... tables) {
        Map<String, Integer> slots = new HashMap<>();
        for (Vtable table : tables) {
            table.slots.forEach((method, place) -> {
                Integer other = slots.put(method, place);
                if (other != null && !other.equals(place)) {
                    throw new IllegalArgumentException(
                            table.name + " has " + method + " at " + place + ", another table at " + other);
                }
            });
        }
        SymbolProvider places = (handle, symbol, system) -> {
            Integer place = slots.get(symbol);
            // JNA itself calls GetLastError.
            return place == null ? system.getSymbolAddress(handle, symbol, system) : Thunks.through(place);
        };
        Native.register(methods, NativeLibrary.getInstance("kernel32", Map.of(Library.OPTION_SYMBOL_PROVIDER, places)));
    }

    /** Returns the name of the interface. */
    public String name() {
        return name;
    }

    /** Returns the IID of the interface; empty if it does not have one. */
    public byte[] id() {
        return id.clone();
    }

    /** Returns the table indexes of the methods in use. */
    public Map<String, Integer> slots() {
        return slots;
    }

    /**
     * For each index of a table, a few bytes of code that jump through that entry of the first argument's table: direct
     * mapping requires fixed addresses, and JNA's alternatives allocate at each call.
     */
    private static final class Thunks {
        private static final int PLACES = 256;
        private static final int BYTES = 16;
        private static final long CODE = write();

        /** Returns the address of the code for one index. */
        static long through(int place) {
            return CODE + (long) place * BYTES;
        }

        private static long write() {
            long bytes = (long) PLACES * BYTES;
            long page = Kernel32.VirtualAlloc(0, bytes, Kernel32.MEM_COMMIT_RESERVE, Kernel32.PAGE_READWRITE);
            if (page == 0) {
                throw new UnsatisfiedLinkError("no memory for code: VirtualAlloc -> " + Native.getLastError());
            }
            ByteBuffer code = new Pointer(page).getByteBuffer(0, bytes).order(ByteOrder.LITTLE_ENDIAN);
            for (int place = 0; place < PLACES; place++) {
                code.position(place * BYTES);
                code.put((byte) 0x48).put((byte) 0x8b).put((byte) 0x01); // mov rax, [rcx]
                code.put((byte) 0xff).put((byte) 0xa0).putInt(place * Long.BYTES); // jmp [rax + 8 * place]
            }
            if (Kernel32.VirtualProtect(page, bytes, Kernel32.PAGE_EXECUTE_READ, new int[1]) == 0) {
                throw new UnsatisfiedLinkError("memory for code: VirtualProtect -> " + Native.getLastError());
            }
            Kernel32.FlushInstructionCache(Kernel32.GetCurrentProcess(), page, bytes);
            return page;
        }
    }
}
