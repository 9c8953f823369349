// SPDX-License-Identifier: Apache-2.0
/**
 * The door: {@link io.penstock.engine.Engine} makes a {@link io.penstock.Backend} of a driver and its routes. Takes transfers
 * in, chooses their route, closes what is open. The rooms below it, each of which knows only those named before it: {@code
 * plan}, {@code order}, {@code resource}, {@code queue}, {@code publisher}, {@code stream} ({@code docs/architecture.md}).
 */
@NullMarked
package io.penstock.engine;

import org.jspecify.annotations.NullMarked;
