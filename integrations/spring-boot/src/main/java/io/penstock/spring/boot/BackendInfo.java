// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.penstock.Backend;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.context.annotation.Bean;

/** What moves the bytes, in {@code /actuator/info}, unless {@code management.info.penstock.enabled} is false. */
@AutoConfiguration(after = PenstockAutoConfiguration.class)
@ConditionalOnClass(InfoContributor.class)
@ConditionalOnSingleCandidate(Backend.class)
@ConditionalOnProperty(name = "management.info.penstock.enabled", matchIfMissing = true)
class BackendInfo {

    @Bean
    @ConditionalOnMissingBean(name = "penstockInfoContributor")
    InfoContributor penstockInfoContributor(Backend backend) {
        return info -> info.withDetail("penstock", DeviceCheck.details(backend));
    }
}
