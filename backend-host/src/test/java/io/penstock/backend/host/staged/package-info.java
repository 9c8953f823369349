// SPDX-License-Identifier: Apache-2.0
/**
 * A graphics card made of arrays: memory that the processor cannot address, fed by staging alone. The rules run over it
 * with each {@link io.penstock.engine.spi.staging.ThreadRule}, so that staging is proved under the whole engine without
 * one.
 */
@NullMarked
package io.penstock.backend.host.staged;

import org.jspecify.annotations.NullMarked;
