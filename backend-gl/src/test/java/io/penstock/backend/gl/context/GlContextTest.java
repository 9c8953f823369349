// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.context;

import static org.assertj.core.api.Assertions.assertThat;

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

    @Test
    void aPartThatCannotBeFreedKeepsNeitherTheOthersNorTheContext() throws InterruptedException {
        ContextSource source = ContextChoice.of(Options.none().resolve(Backends.options()));
        List<String> ends = new CopyOnWriteArrayList<>();
        CountDownLatch given = new CountDownLatch(1);
        GlContext context = GlContext.start(new ContextSource() {
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
