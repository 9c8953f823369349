// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.dx11.ffi;

import com.sun.jna.Function;
import com.sun.jna.Native;
import com.sun.jna.Pointer;

/**
 * Methods of COM objects, each by its index in the table of its interface; addresses are passed as {@code Long},
 * numbers as {@code Integer}, structures as arrays of their members.
 */
public enum Method {
    RELEASE("IUnknown", "Release", 2),
    GET_BUFFER_POINTER("ID3D10Blob", "GetBufferPointer", 3),
    GET_BUFFER_SIZE("ID3D10Blob", "GetBufferSize", 4),
    GET_DEVICE("ID3D11DeviceChild", "GetDevice", 3),
    CREATE_BUFFER("ID3D11Device", "CreateBuffer", 3),
    CREATE_TEXTURE_2D("ID3D11Device", "CreateTexture2D", 5),
    CREATE_TEXTURE_3D("ID3D11Device", "CreateTexture3D", 6),
    CREATE_SHADER_RESOURCE_VIEW("ID3D11Device", "CreateShaderResourceView", 7),
    CREATE_RENDER_TARGET_VIEW("ID3D11Device", "CreateRenderTargetView", 9),
    CREATE_INPUT_LAYOUT("ID3D11Device", "CreateInputLayout", 11),
    CREATE_VERTEX_SHADER("ID3D11Device", "CreateVertexShader", 12),
    CREATE_PIXEL_SHADER("ID3D11Device", "CreatePixelShader", 15),
    CREATE_BLEND_STATE("ID3D11Device", "CreateBlendState", 20),
    CHECK_FORMAT_SUPPORT("ID3D11Device", "CheckFormatSupport", 29),
    GET_IMMEDIATE_CONTEXT("ID3D11Device", "GetImmediateContext", 40),
    PS_SET_SHADER_RESOURCES("ID3D11DeviceContext", "PSSetShaderResources", 8),
    PS_SET_SHADER("ID3D11DeviceContext", "PSSetShader", 9),
    VS_SET_SHADER("ID3D11DeviceContext", "VSSetShader", 11),
    DRAW("ID3D11DeviceContext", "Draw", 13),
    MAP("ID3D11DeviceContext", "Map", 14),
    UNMAP("ID3D11DeviceContext", "Unmap", 15),
    PS_SET_CONSTANT_BUFFERS("ID3D11DeviceContext", "PSSetConstantBuffers", 16),
    IA_SET_INPUT_LAYOUT("ID3D11DeviceContext", "IASetInputLayout", 17),
    IA_SET_VERTEX_BUFFERS("ID3D11DeviceContext", "IASetVertexBuffers", 18),
    IA_SET_PRIMITIVE_TOPOLOGY("ID3D11DeviceContext", "IASetPrimitiveTopology", 24),
    OM_SET_RENDER_TARGETS("ID3D11DeviceContext", "OMSetRenderTargets", 33),
    OM_SET_BLEND_STATE("ID3D11DeviceContext", "OMSetBlendState", 35),
    RS_SET_VIEWPORTS("ID3D11DeviceContext", "RSSetViewports", 44),
    COPY_RESOURCE("ID3D11DeviceContext", "CopyResource", 47),
    CLEAR_RENDER_TARGET_VIEW("ID3D11DeviceContext", "ClearRenderTargetView", 50),
    CLEAR_STATE("ID3D11DeviceContext", "ClearState", 110);

    private final String face;
    private final String vendorName;
    private final int place;

    Method(String face, String vendorName, int place) {
        this.face = face;
        this.vendorName = vendorName;
        this.place = place;
    }

    /** Returns interface, method and index, as {@code vtables.c} of the backend prints them. */
    public String line() {
        return face + " " + vendorName + " " + place;
    }

    /** Calls it; the result of a void method is undefined. */
    public int call(long object, Object... arguments) {
        return at(object).invokeInt(all(object, arguments));
    }

    /** Calls a method that returns an address. */
    public long address(long object) {
        return at(object).invokeLong(all(object));
    }

    /**
     * Calls a method whose last argument is the address for the object that it creates.
     *
     * @throws IllegalStateException with its error, if it creates nothing
     */
    public long make(long object, Object... arguments) {
        long[] made = new long[1];
        Object[] all = new Object[arguments.length + 1];
        System.arraycopy(arguments, 0, all, 0, arguments.length);
        all[arguments.length] = made;
        check(call(object, all));
        return made[0];
    }

    /** Calls a void method that returns an object by address. */
    public long give(long object) {
        long[] given = new long[1];
        call(object, (Object) given);
        return given[0];
    }

    /**
     * Checks that a call has succeeded.
     *
     * @throws IllegalStateException with its error
     */
    public void check(int answer) {
        if (answer < 0) {
            throw new IllegalStateException(face + "::" + vendorName + " -> 0x" + Integer.toHexString(answer));
        }
    }

    private Function at(long object) {
        Pointer table = new Pointer(object).getPointer(0);
        return Function.getFunction(table.getPointer((long) place * Native.POINTER_SIZE));
    }

    private static Object[] all(long object, Object... arguments) {
        Object[] all = new Object[arguments.length + 1];
        all[0] = object;
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        return all;
    }
}
