// SPDX-License-Identifier: Apache-2.0
/**
 * What the three interfaces to AMD's SSG have in common: files that a driver opens by name, sees as they were then, and may
 * refuse, commands on their way, each of which ends with a count or with its cause, and what is done for them outside the
 * lane. The calls are the backends'.
 */
@NullMarked
package io.penstock.engine.spi.ssg;

import org.jspecify.annotations.NullMarked;
