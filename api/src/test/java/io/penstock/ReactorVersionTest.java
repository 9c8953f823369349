// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

class ReactorVersionTest {

    /** As Reactor 3.4 has it. */
    private interface OldScheduler extends Disposable {}

    @Test
    void anOldReactorIsRefusedWithItsPlace() {
        assertThatCode(() -> Backends.checkReactor(Scheduler.class)).doesNotThrowAnyException();
        assertThatIllegalStateException()
                .isThrownBy(() -> Backends.checkReactor(OldScheduler.class))
                .withMessageContaining("reactor-core must be 3.5 or newer, was file:")
                .withMessageContaining("name reactor-core");
    }
}
