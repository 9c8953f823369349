// SPDX-License-Identifier: Apache-2.0
/** What Spring Boot configures by itself: a Backend from properties, its health, files over HTTP. */
@NullMarked
package io.penstock.spring.boot;

import org.jspecify.annotations.NullMarked;
