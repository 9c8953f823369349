// SPDX-License-Identifier: Apache-2.0
/**
 * How a transfer is cut: the pieces of a transfer, the ranges that it covers, and how far it came. Arithmetic on regions and
 * limits; knows no file, no buffer, no thread and no queue of the engine.
 */
@NullMarked
package io.penstock.engine.plan;

import org.jspecify.annotations.NullMarked;
