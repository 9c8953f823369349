// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;
import reactor.test.scheduler.VirtualTimeScheduler;

/** Devices that are ill in different ways. */
class DeviceCheckTest {

    private final Backend host = Backends.open("host");
    private final AtomicInteger open = new AtomicInteger();

    @AfterEach
    void close() {
        host.close();
    }

    /** A method that is not the real one's; null for the real one. */
    @FunctionalInterface
    private interface Other {
        Object call(String method, Object[] arguments);
    }

    private static <T> T like(Class<T> type, T real, Other other) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    Object given = other.call(method.getName(), arguments);
                    if (given != null) {
                        return given;
                    }
                    if (method.isDefault()) {
                        return java.lang.reflect.InvocationHandler.invokeDefault(proxy, method, arguments);
                    }
                    try {
                        return method.invoke(real, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    /** Returns a backend that counts its buffers, whose methods are as given. */
    private Backend device(Other memory) {
        return like(Backend.class, host, (method, arguments) -> {
            if (!method.equals("allocate")) {
                return null;
            }
            return host.allocate((Long) arguments[0]).map(buffer -> {
                open.incrementAndGet();
                return like(DeviceBuffer.class, buffer, (called, its) -> {
                    if (called.equals("close")) {
                        open.decrementAndGet();
                    }
                    return memory.call(called, its);
                });
            });
        });
    }

    @Test
    void aSoundDeviceIsDescribedAndNothingIsLeft() {
        Backend sound = device((method, arguments) -> null);
        StepVerifier.create(DeviceCheck.of(sound))
                .assertNext(known -> assertThat(known)
                        .containsEntry("backend", "host")
                        .containsEntry("device", host.capabilities().device()))
                .verifyComplete();
        assertThat(open).as("buffers").hasValue(0);
    }

    @Test
    void otherBytesThatComeBackAreAFailure() {
        Backend forgetful = device((method, arguments) -> {
            if (!method.equals("download")) {
                return null;
            }
            return Mono.fromSupplier(() -> {
                ((ByteBuffer) arguments[1]).putLong(0, 1);
                return (long) Long.BYTES;
            });
        });
        StepVerifier.create(DeviceCheck.of(forgetful))
                .verifyErrorMessage("other bytes came back from the device than were copied to it");
        assertThat(open).as("buffers").hasValue(0);
    }

    @Test
    void aDeviceThatTakesNoBytesIsAFailureAlsoWhereThoseOfTheLastCheckAreLeft() {
        DeviceCheck.of(host).block();
        Backend deaf = device((method, arguments) -> method.equals("upload") ? Mono.just(8L) : null);
        StepVerifier.create(DeviceCheck.of(deaf)).verifyError(IllegalStateException.class);
    }

    @Test
    void aDeviceThatNeverAnswersIsWaitedForTenSeconds() {
        Backend hung =
                like(Backend.class, host, (method, arguments) -> method.equals("allocate") ? Mono.never() : null);
        AtomicReference<Throwable> answer = new AtomicReference<>();
        VirtualTimeScheduler clock = VirtualTimeScheduler.getOrSet();
        try {
            DeviceCheck.of(hung).subscribe(known -> {}, answer::set);
            clock.advanceTimeBy(Duration.ofMillis(9_999));
            assertThat(answer).hasValue(null);
            clock.advanceTimeBy(Duration.ofMillis(1));
            assertThat(answer.get()).isInstanceOf(TimeoutException.class);
        } finally {
            VirtualTimeScheduler.reset();
        }
    }

    @Test
    void aCopyThatNeverEndsGivesItsBufferBack() {
        AtomicBoolean begun = new AtomicBoolean();
        Backend hung = device((method, arguments) -> {
            if (!method.equals("upload")) {
                return null;
            }
            return Mono.never().doOnSubscribe(subscription -> begun.set(true));
        });
        StepVerifier.withVirtualTime(() -> DeviceCheck.of(hung))
                .expectSubscription()
                .then(() -> {
                    while (!begun.get()) {
                        Thread.onSpinWait(); // the buffer comes from another thread
                    }
                })
                .thenAwait(Duration.ofSeconds(10))
                .expectError(TimeoutException.class)
                .verify(Duration.ofSeconds(60));
        assertThat(open).as("buffers").hasValue(0);
    }
}
