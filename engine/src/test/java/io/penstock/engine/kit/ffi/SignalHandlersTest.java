// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.ffi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.jna.Function;
import com.sun.jna.Memory;
import com.sun.jna.NativeLibrary;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a vendor's library does to the handlers of signals does not last. */
class SignalHandlersTest {

    private static final int SIGURG = 23; // the JVM has no use for it
    private static final int SIG_IGN = 1;

    private long before;

    @BeforeEach
    void ask() {
        assumeTrue(Machine.isSupported(), "64-bit Linux on a known architecture");
        before = handler();
        assertThat(before).isNotEqualTo(SIG_IGN);
    }

    @AfterEach
    void asBefore() {
        if (Machine.isSupported()) {
            set(before);
        }
    }

    private static long handler() {
        Memory action = new Memory(256);
        function("sigaction").invokeInt(new Object[] {SIGURG, null, action});
        return action.getLong(0);
    }

    private static void set(long handler) {
        function("signal").invokeLong(new Object[] {SIGURG, handler});
    }

    private static Function function(String name) {
        return NativeLibrary.getProcess().getFunction(name);
    }

    @Test
    void aReplacedHandlerIsPutBack() {
        long[] during = new long[1];
        String answer = SignalHandlers.keep(() -> {
            set(SIG_IGN);
            during[0] = handler();
            return "answer";
        });
        assertThat(answer).isEqualTo("answer");
        assertThat(during[0]).isEqualTo(SIG_IGN);
        assertThat(handler()).isEqualTo(before);
    }

    @Test
    void afterAFailureToo() {
        assertThatThrownBy(() -> SignalHandlers.keep(() -> {
                    set(SIG_IGN);
                    throw new IllegalStateException("the vendor's");
                }))
                .hasMessage("the vendor's");
        assertThat(handler()).isEqualTo(before);
    }
}
