// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import com.sun.jna.Library;
import com.sun.jna.NativeLibrary;
import com.sun.jna.Pointer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;

/**
 * What a test orders the fake of a vendor's library to do, and asks it. Functions are named as the vendor names them; a
 * trailing {@code _v2} makes no difference. Each library has a state of its own.
 */
public final class FakeControl {

    private static final int RTLD_LAZY = 1;

    private final NativeLibrary library;

    /** Loads a fake that was compiled with {@code control.c}, or finds it where it is loaded already. */
    public FakeControl(Path file) {
        library = NativeLibrary.getInstance(file.toString(), Map.of(Library.OPTION_OPEN_FLAGS, RTLD_LAZY));
    }

    /** Ends all that runs, frees all that lives, forgets calls, orders, properties and the complaint. */
    public void reset() {
        call("fake_reset");
    }

    /**
     * Lets the {@code nth} next call of a function fail; 0 lets all fail from now on, a negative one forgets such
     * orders.
     *
     * @param function whose call answers {@code code}; {@code late:NAME} for an operation that is accepted and then
     *     fails
     * @param nth 1 for the next call
     * @param code the answer: a CUresult, the err of a CUfileError_t, or what cuFileRead and its like return
     * @param err the CUresult beside err 5011, or errno where cuFileRead returns -1
     */
    public void fail(String function, long nth, long code, long err) {
        call("fake_fail", function, nth, code, err);
    }

    /** Lets the {@code nth} next call of a function answer {@code code}. */
    public void fail(String function, long nth, long code) {
        fail(function, nth, code, 0);
    }

    /** Makes each operation of a function take longer. */
    public void delay(String function, Duration delay) {
        call("fake_delay", function, delay.toNanos() / 1000);
    }

    /** Lets each operation of a function move at most so many bytes; -1 for all. */
    public void shorten(String function, long bytes) {
        call("fake_short", function, bytes);
    }

    /** Lets operations of a function start, but neither move data nor end before they are released. */
    public void hold(String function) {
        call("fake_hold", function);
    }

    /** Releases the held operations of a function, and holds no later ones. */
    public void release(String function) {
        call("fake_release", function);
    }

    /** Returns how many operations of a function are held now. */
    public long held(String function) {
        return number("fake_held", function);
    }

    /** Waits until so many operations of a function are held, at most 10 s, and returns how many are. */
    public long awaitHeld(String function, long operations) {
        return number("fake_await_held", function, operations, 10_000L);
    }

    /** Waits until a function was called so often since the last reset, at most 10 s, and returns how often it was. */
    public long awaitCalls(String function, long calls) {
        return number("fake_await_calls", function, calls, 10_000L);
    }

    /** Returns how often a function was called since the last reset. */
    public long calls(String function) {
        return number("fake_calls", function);
    }

    /**
     * Returns how many of a kind live. libcuda: contexts, streams, events, allocations, bytes, host_allocations,
     * host_registrations (of memory that the device only reads), host_buffers (of other), pinned (bytes), modules,
     * operations; and since the reset pageable_copies. libcufile: driver, handles, buffers, registered_bytes, batches,
     * entries, streams, async, operations; and since the reset registered_by_other_base.
     */
    public long live(String kind) {
        return number("fake_live", kind);
    }

    /** Waits until at most so many of a kind live, for at most 10 s, and returns how many do. */
    public long awaitLive(String kind, long most) {
        return number("fake_await_live", kind, most, 10_000L);
    }

    /** Returns the first wrong use that a real library need not have noticed. */
    public Optional<String> complaint() {
        Pointer text = (Pointer) library.getFunction("fake_complaint").invoke(Pointer.class, new Object[0]);
        return text == null ? Optional.empty() : Optional.of(text.getString(0));
    }

    /** Forgets the complaint. */
    public void forgive() {
        call("fake_forgive");
    }

    /** Sets a property of what the fake stands for; {@code cufile.h} and {@code device.c} list them. */
    public void set(String property, long value) {
        call("fake_set", property, value);
    }

    private void call(String name, Object... arguments) {
        library.getFunction(name).invokeVoid(arguments);
    }

    private long number(String name, Object... arguments) {
        return (Long) library.getFunction(name).invoke(Long.class, arguments);
    }
}
