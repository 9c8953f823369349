// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.util.concurrent.Callable;

/**
 * A subcommand of {@code penstock} that another module provides: a service with picocli's {@code @Command} and a public
 * constructor without parameters. It returns its exit code.
 */
public interface Subcommand extends Callable<Integer> {}
