// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ffi;

import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import com.sun.jna.SymbolProvider;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * The table of functions of one COM interface, or of one that is laid out alike: its id, and the methods that we call, each named once with its place.
 * A class binds its native methods to these places, not to functions: Direct3D's objects change their tables while they
 * live, so that the function is looked up in the object's table at each call.
 *
 * <p>That look-up is {@link Thunks}.
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
     * @param name the interface's
     * @param id its IID, without braces
     * @param slots {@code Method=place}, separated by blanks; inherited methods are their own interface's
     */
    static Vtable of(String name, String id, String slots) {
        return new Vtable(name, guid(id), places(slots));
    }

    /** Describes one that is not COM's, and has no id. */
    static Vtable of(String name, String slots) {
        return new Vtable(name, new byte[0], places(slots));
    }

    private static Map<String, Integer> places(String slots) {
        Map<String, Integer> places = new LinkedHashMap<>();
        for (String entry : slots.strip().split("\\s+")) {
            int equals = entry.indexOf('=');
            places.put(entry.substring(0, equals), Integer.valueOf(entry.substring(equals + 1)));
        }
        return Map.copyOf(places);
    }

    /** Returns the 16 bytes of a GUID: three numbers in the processor's order, then bytes. */
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

    /** Has the native methods of a class go through tables of this kind; their first argument is the object. */
    void bind(Class<?> methods) {
        SymbolProvider places = (handle, symbol, system) -> {
            Integer place = slots.get(symbol);
            // JNA itself asks for GetLastError.
            return place == null ? system.getSymbolAddress(handle, symbol, system) : Thunks.through(place);
        };
        Native.register(methods, NativeLibrary.getInstance("kernel32", Map.of(Library.OPTION_SYMBOL_PROVIDER, places)));
    }

    /** Returns the interface's name. */
    public String name() {
        return name;
    }

    /** Returns the interface's IID; empty if it has none. */
    public byte[] id() {
        return id.clone();
    }

    /** Returns the places of the methods that we call. */
    public Map<String, Integer> slots() {
        return slots;
    }

    /**
     * For each place of a table, a few bytes of code that jump through it, whatever object comes as the first argument:
     * direct mapping knows fixed addresses only, and everything else that JNA has allocates at each call.
     */
    private static final class Thunks {
        private static final int PLACES = 256;
        private static final int BYTES = 16;
        private static final long CODE = write();

        /** Returns the address of the code for one place. */
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
