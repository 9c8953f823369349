// SPDX-License-Identifier: Apache-2.0
/**
 * What every backend shares: {@link io.penstock.engine.Engine} makes a {@link io.penstock.Backend} of a driver; its
 * calls become open transfers, which lanes cut into native requests, in eight hops ({@code docs/architecture.md}).
 */
@NullMarked
package io.penstock.engine;

import org.jspecify.annotations.NullMarked;
