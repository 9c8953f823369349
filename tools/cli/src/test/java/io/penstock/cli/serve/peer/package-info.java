// SPDX-License-Identifier: Apache-2.0
/**
 * {@code penstock serve} measured against other ways to send a file; run by {@code tools/benchmarks/serve}, not a test.
 */
@NullMarked
package io.penstock.cli.serve.peer;

import org.jspecify.annotations.NullMarked;
