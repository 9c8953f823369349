// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.D3d11Texture1D;
import io.penstock.backend.dx11.ffi.D3d11Texture2D;
import io.penstock.backend.dx11.ffi.D3d11Texture3D;
import io.penstock.backend.dx11.ffi.Vtable;

/** How many dimensions a texture has, the most frequent first: each is asked whether it is that. */
enum TextureKind {
    TWO {
        @Override
        Vtable table() {
            return D3d11Texture2D.TABLE;
        }

        @Override
        TextureShape shape(long texture) {
            int[] told = new int[11];
            D3d11Texture2D.GetDesc(texture, told);
            return new TextureShape(this, told[0], told[1], told[3], told[2], told[4], told[5], told[7], told[8]);
        }
    },
    THREE {
        @Override
        Vtable table() {
            return D3d11Texture3D.TABLE;
        }

        @Override
        TextureShape shape(long texture) {
            int[] told = new int[9];
            D3d11Texture3D.GetDesc(texture, told);
            return new TextureShape(this, told[0], told[1], told[2], told[3], told[4], 1, told[5], told[6]);
        }
    },
    ONE {
        @Override
        Vtable table() {
            return D3d11Texture1D.TABLE;
        }

        @Override
        TextureShape shape(long texture) {
            int[] told = new int[8];
            D3d11Texture1D.GetDesc(texture, told);
            return new TextureShape(this, told[0], 1, told[2], told[1], told[3], 1, told[4], told[5]);
        }
    };

    /** Returns the interface of textures of this kind. */
    abstract Vtable table();

    /** Returns what a texture of this kind says of itself. */
    abstract TextureShape shape(long texture);
}
