// SPDX-License-Identifier: Apache-2.0
/**
 * Objects read by the S3 client of the AWS Common Runtime: ranges arrive in native memory of the client and are copied once,
 * into the memory that a transfer has given. Knows nothing of devices.
 */
@NullMarked
package io.penstock.remote.s3.client;

import org.jspecify.annotations.NullMarked;
