// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.engine.spi.Shared;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SharedContextTest {

    private static final Shared<Object, Device> OPEN = new Shared<>(Device::end);

    private final List<String> freed = new ArrayList<>();

    private static final class Device extends SharedContext<Device> {

        private final List<String> freed;

        Device(List<String> freed) {
            super(OPEN);
            this.freed = freed;
        }

        private void end() {
            close();
        }

        @Override
        protected void free() {
            freed.add("device");
        }
    }

    private record Named(String name, List<String> freed) implements SharedContext.Part {

        @Override
        public void close() {
            freed.add(name);
        }
    }

    private record Stateless() implements SharedContext.Part {}

    private Device open() {
        return OPEN.open(new Object(), () -> new Device(freed));
    }

    @Test
    void theLastUserFreesThePartsInOrderAndThenTheContext() {
        Device device = open();
        device.join();
        device.part(Named.class, made -> new Named("part", freed));
        device.atEnd(() -> freed.add("later"));
        device.leave();
        assertThat(freed).as("freed while it has a user").isEmpty();
        device.leave();
        assertThat(freed).containsExactly("part", "later", "device");
    }

    @Test
    void oneLeaveTooManyIsRefusedAndFreesNothingASecondTime() {
        Device device = open();
        device.leave();
        assertThatThrownBy(device::leave)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no user");
        assertThatThrownBy(device::join)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no user");
        assertThat(freed).containsExactly("device");
    }

    @Test
    void aPartIsMadeOnceForEachType() {
        Device device = open();
        Named first = device.part(Named.class, made -> new Named("first", freed));
        assertThat(device.part(Named.class, made -> new Named("second", freed))).isSameAs(first);
        assertThat(device.part(Stateless.class, made -> new Stateless())).isNotNull();
        device.leave();
        assertThat(freed).containsExactly("first", "device");
    }

    @Test
    void aPartThatCannotBeFreedKeepsNeitherTheOthersNorTheContext() {
        Device device = open();
        device.atEnd(() -> {
            throw new IllegalStateException("a bug");
        });
        device.atEnd(() -> freed.add("part"));
        device.leave();
        assertThat(freed).containsExactly("part", "device");
    }
}
