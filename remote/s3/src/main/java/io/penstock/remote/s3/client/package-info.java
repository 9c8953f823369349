// SPDX-License-Identifier: Apache-2.0
/**
 * Objects: read by the ranges of {@link io.penstock.remote.http.client}, with requests that the AWS Common Runtime
 * signs, and written by its S3 client. Independent of devices.
 */
@NullMarked
package io.penstock.remote.s3.client;

import org.jspecify.annotations.NullMarked;
