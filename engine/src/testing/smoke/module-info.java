// SPDX-License-Identifier: Apache-2.0
/** A program of a user's, which knows the API only. */
module smoke {
    requires io.penstock.api;

    exports smoke;
}
