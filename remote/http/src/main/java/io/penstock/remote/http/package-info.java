// SPDX-License-Identifier: Apache-2.0
/** Files behind {@code http:} and {@code https:} URIs, as files to transfer. Their options. */
@NullMarked
package io.penstock.remote.http;

import org.jspecify.annotations.NullMarked;
