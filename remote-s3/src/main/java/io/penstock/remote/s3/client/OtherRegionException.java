// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import java.io.IOException;

/** Thrown if a bucket is in another region than the one that was asked. */
final class OtherRegionException extends IOException {

    private static final long serialVersionUID = 1L;

    private final String region;

    OtherRegionException(Address address, String region) {
        super(address + " is in region " + region);
        this.region = region;
    }

    String region() {
        return region;
    }
}
