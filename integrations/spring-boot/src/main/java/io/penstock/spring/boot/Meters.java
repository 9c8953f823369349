// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.penstock.Backend;
import io.penstock.micrometer.TransferMeters;
import java.util.List;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import reactor.core.Disposable;
import reactor.core.Disposables;

/** Meters of the transfers of all backends, which Boot binds to each of the application's registries. */
@AutoConfiguration(after = PenstockAutoConfiguration.class)
@ConditionalOnClass({TransferMeters.class, MeterBinder.class})
@ConditionalOnBean(Backend.class)
class Meters {

    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean(name = "penstockMeters")
    Binder penstockMeters(List<Backend> backends) {
        return new Binder(backends);
    }

    /** Ends with the context: a registry may outlive it. */
    static final class Binder implements MeterBinder, AutoCloseable {

        private final List<Backend> backends;
        private final Disposable.Composite bound = Disposables.composite();

        private Binder(List<Backend> backends) {
            this.backends = backends;
        }

        @Override
        public void bindTo(MeterRegistry registry) {
            backends.forEach(backend -> bound.add(TransferMeters.bind(backend, registry)));
        }

        @Override
        public void close() {
            bound.dispose();
        }
    }
}
