// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.gl.GlSubject;
import io.penstock.backend.gl.platform.ContextChoice;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class GlContextTest {

    @BeforeAll
    static void require() {
        GlSubject.require();
    }

    private final List<String> ends = new CopyOnWriteArrayList<>();
    private final CountDownLatch given = new CountDownLatch(1);

    private GlContext start() {
        ContextSource source = ContextChoice.of(Options.none().resolve(Backends.options()));
        return GlContext.start(new ContextSource() {
            @Override
            public void begin() {
                source.begin();
            }

            @Override
            public void end() {
                source.end();
                ends.add("context");
                given.countDown();
            }
        });
    }

    /** A thread of the backend takes no more calls then; a pump of the application's does. */
    @Test
    void oneLeaveTooManyIsRefusedAndReleasesNothingASecondTime() throws InterruptedException {
        GlContext context = start();
        context.leave();
        assertThatThrownBy(context::leave)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no user");
        assertThat(given.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(ends).containsExactly("context");
    }

    @Test
    void aPartThatCannotBeFreedKeepsNeitherTheOthersNorTheContext() throws InterruptedException {
        GlContext context = start();
        context.atEnd(() -> {
            throw new IllegalStateException("a bug");
        });
        context.atEnd(() -> ends.add("part"));
        assertThat(ends).isEmpty();
        context.leave();
        assertThat(given.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(ends).containsExactly("part", "context");
    }
}
