// SPDX-License-Identifier: Apache-2.0
/** AMD GPUs by HIP: the options, and streams of applications. */
@NullMarked
package io.penstock.backend.hip;

import org.jspecify.annotations.NullMarked;
