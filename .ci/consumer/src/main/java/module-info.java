// SPDX-License-Identifier: Apache-2.0
/** An application on the module path. */
module org.example.app {
    requires io.penstock.api;
}
