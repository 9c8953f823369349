// SPDX-License-Identifier: Apache-2.0
// Prints, from the headers of Windows: INTERFACE METHOD PLACE, and INTERFACE IID in hexadecimal as it lies in memory.
#define COBJMACROS
#define INITGUID
#include <windows.h>
#include <d3d11_4.h>
#include <dxgi.h>
#include <stddef.h>
#include <stdio.h>

static void id(const char *face, REFIID iid) {
    printf("%s IID ", face);
    for (size_t i = 0; i < sizeof *iid; i++) printf("%02x", ((const unsigned char *)iid)[i]);
    printf("\n");
}

#define SLOT(face, method) \
    printf("%s %s %d\n", #face, #method, (int)(offsetof(face##Vtbl, method) / sizeof(void *)))
#define ID(face) id(#face, &IID_##face)

int main(void) {
    ID(IUnknown);
    SLOT(IUnknown, QueryInterface);
    SLOT(IUnknown, AddRef);
    SLOT(IUnknown, Release);
    ID(ID3D11Device);
    SLOT(ID3D11Device, CreateBuffer);
    SLOT(ID3D11Device, CreateTexture1D);
    SLOT(ID3D11Device, CreateTexture2D);
    SLOT(ID3D11Device, CreateTexture3D);
    SLOT(ID3D11Device, CreateQuery);
    SLOT(ID3D11Device, GetCreationFlags);
    SLOT(ID3D11Device, GetDeviceRemovedReason);
    SLOT(ID3D11Device, GetImmediateContext);
    ID(ID3D11Device5);
    SLOT(ID3D11Device5, CreateFence);
    ID(ID3D11DeviceChild);
    SLOT(ID3D11DeviceChild, GetDevice);
    ID(ID3D11Buffer);
    SLOT(ID3D11Buffer, GetDesc);
    ID(ID3D11Texture1D);
    SLOT(ID3D11Texture1D, GetDesc);
    ID(ID3D11Texture2D);
    SLOT(ID3D11Texture2D, GetDesc);
    ID(ID3D11Texture3D);
    SLOT(ID3D11Texture3D, GetDesc);
    ID(ID3D11Query);
    SLOT(ID3D11Query, GetDesc);
    ID(ID3D11DeviceContext);
    SLOT(ID3D11DeviceContext, Map);
    SLOT(ID3D11DeviceContext, Unmap);
    SLOT(ID3D11DeviceContext, End);
    SLOT(ID3D11DeviceContext, GetData);
    SLOT(ID3D11DeviceContext, CopySubresourceRegion);
    SLOT(ID3D11DeviceContext, UpdateSubresource);
    SLOT(ID3D11DeviceContext, Flush);
    ID(ID3D11DeviceContext4);
    SLOT(ID3D11DeviceContext4, Signal);
    ID(ID3D11Fence);
    SLOT(ID3D11Fence, GetCompletedValue);
    SLOT(ID3D11Fence, SetEventOnCompletion);
    ID(ID3D11Multithread);
    SLOT(ID3D11Multithread, SetMultithreadProtected);
    ID(IDXGIFactory1);
    SLOT(IDXGIFactory1, EnumAdapters1);
    ID(IDXGIAdapter1);
    SLOT(IDXGIAdapter1, GetDesc1);
    ID(IDXGIDevice);
    SLOT(IDXGIDevice, GetAdapter);
    // Of the sample that draws.
    SLOT(ID3D10Blob, GetBufferPointer);
    SLOT(ID3D10Blob, GetBufferSize);
    SLOT(ID3D11Device, CreateShaderResourceView);
    SLOT(ID3D11Device, CreateRenderTargetView);
    SLOT(ID3D11Device, CreateInputLayout);
    SLOT(ID3D11Device, CreateVertexShader);
    SLOT(ID3D11Device, CreatePixelShader);
    SLOT(ID3D11Device, CreateBlendState);
    SLOT(ID3D11Device, CheckFormatSupport);
    SLOT(ID3D11DeviceContext, PSSetShaderResources);
    SLOT(ID3D11DeviceContext, PSSetShader);
    SLOT(ID3D11DeviceContext, VSSetShader);
    SLOT(ID3D11DeviceContext, Draw);
    SLOT(ID3D11DeviceContext, PSSetConstantBuffers);
    SLOT(ID3D11DeviceContext, IASetInputLayout);
    SLOT(ID3D11DeviceContext, IASetVertexBuffers);
    SLOT(ID3D11DeviceContext, IASetPrimitiveTopology);
    SLOT(ID3D11DeviceContext, OMSetRenderTargets);
    SLOT(ID3D11DeviceContext, OMSetBlendState);
    SLOT(ID3D11DeviceContext, RSSetViewports);
    SLOT(ID3D11DeviceContext, CopyResource);
    SLOT(ID3D11DeviceContext, ClearRenderTargetView);
    SLOT(ID3D11DeviceContext, ClearState);
    printf("DXGI_ADAPTER_DESC1 DedicatedVideoMemory %d\n", (int)offsetof(DXGI_ADAPTER_DESC1, DedicatedVideoMemory));
    printf("DXGI_ADAPTER_DESC1 Flags %d\n", (int)offsetof(DXGI_ADAPTER_DESC1, Flags));
    printf("DXGI_ADAPTER_DESC1 bytes %d\n", (int)sizeof(DXGI_ADAPTER_DESC1));
    return 0;
}
