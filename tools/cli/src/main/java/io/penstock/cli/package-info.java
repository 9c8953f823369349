// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code penstock} command with its subcommands {@code load}, {@code ls}, {@code copy}, {@code bench},
 * {@code serve} and {@code doctor}, and the types that subcommands of other modules share with them:
 * {@link io.penstock.cli.Subcommand}, the choice of the backend, sizes, progress. Nothing here may depend on another
 * module's subcommand, or on a backend except by name.
 */
@NullMarked
package io.penstock.cli;

import org.jspecify.annotations.NullMarked;
