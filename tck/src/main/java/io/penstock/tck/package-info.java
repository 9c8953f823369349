// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of Penstock as JUnit interfaces, to be implemented by the test class of a backend.
 *
 * <pre>{@code
 * class HostUringTckTest implements BackendRules {
 *     @Override
 *     public TckSubject subject() { ... }
 * }
 * }</pre>
 *
 * <p>The name of a test says which rule it proves: {@code required_201_...} for the numbered rules of the design,
 * {@code required_order_...}, {@code required_fence_...} and the like for what its sections say without a number. After
 * every test {@link io.penstock.tck.BenchExtension} closes what the test left open and waits until descriptors, threads
 * and the backend's own counts are back to what they were.
 */
@NullMarked
package io.penstock.tck;

import org.jspecify.annotations.NullMarked;
