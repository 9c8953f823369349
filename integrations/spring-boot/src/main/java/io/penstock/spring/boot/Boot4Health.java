// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.penstock.Backend;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.ReactiveHealthIndicator;
import org.springframework.context.annotation.Bean;

/** The backend's health where Spring Boot 4 is, unless {@code management.health.penstock.enabled} is false. */
@AutoConfiguration(after = PenstockAutoConfiguration.class)
@ConditionalOnClass(name = "org.springframework.boot.health.contributor.ReactiveHealthIndicator")
@ConditionalOnSingleCandidate(Backend.class)
@ConditionalOnProperty(name = "management.health.penstock.enabled", matchIfMissing = true)
class Boot4Health {

    @Bean
    @ConditionalOnMissingBean(name = "penstockHealthIndicator")
    ReactiveHealthIndicator penstockHealthIndicator(Backend backend) {
        return () -> DeviceCheck.health(
                backend,
                details -> Health.up().withDetails(details).build(),
                failure -> Health.down(failure).build());
    }
}
