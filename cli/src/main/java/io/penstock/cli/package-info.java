// SPDX-License-Identifier: Apache-2.0
/**
 * The {@code penstock} command with its subcommands {@code copy}, {@code serve} and {@code doctor}, and what subcommands of
 * other modules share with them: {@link io.penstock.cli.Subcommand}, the choice of the backend, sizes, progress. Nothing here
 * may know another module's subcommand, nor a backend but by its name.
 */
@NullMarked
package io.penstock.cli;

import org.jspecify.annotations.NullMarked;
