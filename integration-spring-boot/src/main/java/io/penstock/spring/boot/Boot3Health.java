// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.penstock.Backend;
import org.springframework.boot.actuate.health.AbstractReactiveHealthIndicator;
import org.springframework.boot.actuate.health.Health;
import org.springframework.boot.actuate.health.ReactiveHealthIndicator;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;
import reactor.core.publisher.Mono;

/** The backend's health where Spring Boot 3 is, unless {@code management.health.penstock.enabled} is false. */
@AutoConfiguration(after = PenstockAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.actuate.health.ReactiveHealthIndicator")
@ConditionalOnSingleCandidate(Backend.class)
@ConditionalOnProperty(name = "management.health.penstock.enabled", matchIfMissing = true)
class Boot3Health {

    @Bean
    @ConditionalOnMissingBean(name = "penstockHealthIndicator")
    ReactiveHealthIndicator penstockHealthIndicator(Backend backend) {
        return new Indicator(backend);
    }

    private static final class Indicator extends AbstractReactiveHealthIndicator {

        private final Backend backend;

        Indicator(Backend backend) {
            super("the device of Penstock's backend failed its check");
            this.backend = backend;
        }

        @Override
        protected Mono<Health> doHealthCheck(Health.Builder builder) {
            return DeviceCheck.of(backend)
                    .map(details -> builder.up().withDetails(details).build());
        }
    }
}
