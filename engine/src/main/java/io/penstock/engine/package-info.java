// SPDX-License-Identifier: Apache-2.0
/**
 * The entry point: {@link io.penstock.engine.Engine} creates a {@link io.penstock.Backend} from a driver and its paths.
 * Accepts transfers, chooses their path, closes open resources. The packages below it, each of which depends only on
 * those named before it: {@code recording}, {@code plan}, {@code order}, {@code resource}, {@code queue}, {@code
 * publisher}, {@code stream} ({@code docs/architecture.md}).
 */
@NullMarked
package io.penstock.engine;

import org.jspecify.annotations.NullMarked;
