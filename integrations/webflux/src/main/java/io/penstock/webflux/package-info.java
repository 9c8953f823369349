// SPDX-License-Identifier: Apache-2.0
/** Files over HTTP in Spring WebFlux: ranges from leased memory, uploads that appear as a whole. */
@NullMarked
package io.penstock.webflux;

import org.jspecify.annotations.NullMarked;
