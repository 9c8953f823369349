// SPDX-License-Identifier: Apache-2.0
/** What the tests of all subcommands share: runs of the command, and the GPU made of host memory. No tests. */
@NullMarked
package io.penstock.cli.testing;

import org.jspecify.annotations.NullMarked;
