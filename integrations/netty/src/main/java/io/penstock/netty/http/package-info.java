// SPDX-License-Identifier: Apache-2.0
/**
 * HTTP's rules for servers of files, independent of the server: ranges, validators and bodies of several parts. Not
 * promised: for {@code HttpFiles} and {@code penstock serve} alone.
 */
@NullMarked
package io.penstock.netty.http;

import org.jspecify.annotations.NullMarked;
