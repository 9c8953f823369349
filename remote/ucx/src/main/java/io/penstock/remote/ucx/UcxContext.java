// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.NativeError;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.SignalHandlers;
import io.penstock.engine.spi.NativeException;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.remote.ucx.ffi.Ucp;
import io.penstock.remote.ucx.ffi.Ucs;
import io.penstock.remote.ucx.ffi.UcsStatus;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** UCX in this process: its libraries, loaded once, and one context, which lasts as long as the process. */
final class UcxContext {

    /** The variable for the bytes of a segment by TCP. */
    static final String SEGMENT_VARIABLE = "UCX_TCP_RX_SEG_SIZE";

    /**
     * A receiver by TCP is woken for each segment or two, by the sender: UCX's own 64 KiB cost it a fifth of the rate.
     */
    private static final String SEGMENT = "512k";

    /** UCX 1.13 takes the name without its transport, later versions with it; each ignores the other. */
    private static final List<String> SEGMENT_NAMES = List.of("RX_SEG_SIZE", "TCP_RX_SEG_SIZE");

    private static final Pattern SIZE = Pattern.compile("([0-9]{1,12})([kmg]?)b?");

    private static @Nullable UcxContext context; // guarded by the class
    private static @Nullable String refusal; // guarded by the class

    private final long handle;

    private UcxContext(long handle) {
        this.handle = handle;
    }

    /**
     * Returns the context.
     *
     * @throws IOException if UCX cannot be used here; the message states why
     */
    static synchronized UcxContext get() throws IOException {
        if (refusal != null) {
            throw new IOException(refusal);
        }
        UcxContext known = context;
        if (known == null) {
            try {
                known = open();
            } catch (IOException e) {
                refusal = e.getMessage();
                throw e;
            }
            context = known;
        }
        return known;
    }

    /** Returns why UCX cannot be used here; null if it can. */
    static @Nullable String unavailable() {
        try {
            get();
            return null;
        } catch (IOException e) {
            return e.getMessage();
        }
    }

    private static UcxContext open() throws IOException {
        if (!NativeMemory.isAvailable()) {
            throw new IOException("UCX cannot be used: JNA cannot call native code here");
        }
        // libucs replaces the handlers of SIGSEGV and others when it is loaded.
        String reason = SignalHandlers.keep(() -> {
            String ucs = Ucs.LIBRARY.load("");
            return ucs.isEmpty() ? Ucp.LIBRARY.load("") : ucs;
        });
        if (!reason.isEmpty()) {
            throw new IOException("UCX cannot be used: " + reason + "; install libucx0, or UCX 1.10 or newer");
        }
        global("ERROR_SIGNALS", "");
        if (System.getenv("UCX_LOG_LEVEL") == null) {
            global("LOG_LEVEL", "fatal"); // UCX would also print the errors that are thrown here
        }
        return new UcxContext(SignalHandlers.keep(UcxContext::create).value());
    }

    private static void global(String name, String value) throws NativeException {
        check("ucs_global_opts_set_value", Ucs.ucs_global_opts_set_value(name, value));
    }

    /** A handle, or why there is none. */
    private record Created(long handle, @Nullable NativeException failure) {

        long value() throws NativeException {
            if (failure != null) {
                throw failure;
            }
            return handle;
        }
    }

    private static Created create() {
        long[] config = new long[1];
        long[] made = new long[1];
        try (Struct params = Struct.of(Ucp.PARAMS_BYTES)) {
            check("ucp_config_read", Ucp.ucp_config_read(0, 0, config));
            // Without this, an endpoint that reports the end of its peer uses no shared memory.
            check("ucp_config_modify", Ucp.ucp_config_modify(config[0], "MM_ERROR_HANDLING", "y"));
            if (System.getenv(SEGMENT_VARIABLE) == null) {
                for (String name : SEGMENT_NAMES) {
                    check("ucp_config_modify", Ucp.ucp_config_modify(config[0], name, SEGMENT));
                }
            }
            params.fields
                    .putLong(0, Ucp.UCP_PARAM_FIELD_FEATURES | Ucp.UCP_PARAM_FIELD_MT_WORKERS_SHARED)
                    .putLong(Ucp.PARAMS_FEATURES_OFFSET, Ucp.UCP_FEATURE_AM | Ucp.UCP_FEATURE_WAKEUP)
                    .putInt(Ucp.PARAMS_MT_WORKERS_SHARED_OFFSET, 1);
            check("ucp_init", Ucp.ucp_init_version(Ucp.API_MAJOR, Ucp.API_MINOR, params.address, config[0], made));
            return new Created(made[0], null);
        } catch (NativeException e) {
            return new Created(0, e);
        } finally {
            if (config[0] != 0) {
                Ucp.ucp_config_release(config[0]);
            }
        }
    }

    /** Returns a new worker. */
    long worker() throws NativeException {
        long[] made = new long[1];
        try (Struct params = Struct.of(Ucp.WORKER_PARAMS_BYTES)) {
            params.fields
                    .putLong(0, Ucp.UCP_WORKER_PARAM_FIELD_THREAD_MODE)
                    .putInt(Ucp.WORKER_PARAMS_THREAD_MODE_OFFSET, Ucp.UCS_THREAD_MODE_SINGLE);
            check("ucp_worker_create", Ucp.ucp_worker_create(handle, params.address, made));
            return made[0];
        }
    }

    /** Returns the bytes of a segment by TCP, which two peers must have in common; 0 if the variable is no number. */
    static long segmentBytes() {
        String set = System.getenv(SEGMENT_VARIABLE);
        return bytes(set == null ? SEGMENT : set);
    }

    /** Returns the bytes of a size as UCX reads it, such as {@code 64k}; 0 if it is none. */
    static long bytes(String size) {
        Matcher matcher = SIZE.matcher(size.strip().toLowerCase(Locale.ROOT));
        if (!matcher.matches()) {
            return 0;
        }
        int power = "kmg".indexOf(matcher.group(2)) + (matcher.group(2).isEmpty() ? 0 : 1);
        return Long.parseLong(matcher.group(1)) << (10 * power);
    }

    /** Returns the types of memory that UCX accesses: a bit for each, by its number. */
    long memoryTypes() {
        try (Struct attributes = Struct.of(Ucp.CONTEXT_ATTR_BYTES)) {
            attributes.fields.putLong(0, Ucp.UCP_ATTR_FIELD_MEMORY_TYPES);
            int status = Ucp.ucp_context_query(handle, attributes.address);
            return status == UcsStatus.OK ? attributes.fields.getLong(Ucp.CONTEXT_ATTR_MEMORY_TYPES_OFFSET) : 0;
        }
    }

    /** Registers memory of a type with the devices that UCX uses, once for all operations; returns its handle. */
    long map(long address, long bytes, int memoryType) throws NativeException {
        long[] made = new long[1];
        try (Struct params = Struct.of(Ucp.MEM_MAP_PARAMS_BYTES)) {
            params.fields
                    .putLong(
                            0,
                            Ucp.UCP_MEM_MAP_PARAM_FIELD_ADDRESS
                                    | Ucp.UCP_MEM_MAP_PARAM_FIELD_LENGTH
                                    | Ucp.UCP_MEM_MAP_PARAM_FIELD_MEMORY_TYPE)
                    .putLong(Ucp.MEM_MAP_PARAMS_ADDRESS_OFFSET, address)
                    .putLong(Ucp.MEM_MAP_PARAMS_LENGTH_OFFSET, bytes)
                    .putInt(Ucp.MEM_MAP_PARAMS_MEMORY_TYPE_OFFSET, memoryType);
            check("ucp_mem_map", Ucp.ucp_mem_map(handle, params.address, made));
            return made[0];
        }
    }

    /** Ends the registration of memory. */
    void unmap(long memory) {
        Ucp.ucp_mem_unmap(handle, memory);
    }

    /** A structure of UCX's, in memory of the C heap that is filled with zeros; freed when it is closed. */
    record Struct(long address, ByteBuffer fields) implements AutoCloseable {

        static Struct of(int bytes) {
            long address = allocate(bytes);
            return new Struct(address, NativeMemory.view(address, bytes));
        }

        @Override
        public void close() {
            NativeMemory.free(address);
        }
    }

    /** Returns memory of the C heap that is filled with zeros; the caller frees it. */
    static long allocate(long bytes) {
        long address = NativeMemory.allocate(bytes);
        if (address == 0) {
            throw new OutOfMemoryError("no memory for " + bytes + " bytes");
        }
        NativeMemory.fill(address, bytes, (byte) 0);
        return address;
    }

    /** Returns a failure of a call. */
    static NativeFailure failure(String call, int status, String note) {
        return new NativeFailure(
                new NativeError(call, status, UcsStatus.symbol(status)), NativeFailure.Kind.PERMANENT, note);
    }

    /** Throws unless {@code status} is success. */
    static void check(String call, int status) throws NativeException {
        if (status != UcsStatus.OK) {
            throw new NativeException(call, failure(call, status, ""));
        }
    }
}
