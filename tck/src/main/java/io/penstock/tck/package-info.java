// SPDX-License-Identifier: Apache-2.0
/**
 * The rules of Penstock as JUnit interfaces, implemented by the test class of a backend.
 *
 * <pre>{@code
 * class HostUringTckTest implements BackendRules {
 *     @Override
 *     public TckSubject subject() { ... }
 * }
 * }</pre>
 *
 * <p>The name of a test names the rule it proves: {@code required_201_...} for the numbered rules of the design,
 * {@code required_order_...}, {@code required_fence_...} and the like for unnumbered parts of its sections. After
 * every test {@link io.penstock.tck.BenchExtension} closes what the test left open and waits until descriptors,
 * threads and the backend's own counts have returned to their previous values.
 */
@NullMarked
package io.penstock.tck;

import org.jspecify.annotations.NullMarked;
