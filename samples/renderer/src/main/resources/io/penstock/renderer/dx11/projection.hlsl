// Draws planes of a slab over each other, the brightest voxel on top: that the output merger does, by MAX.
// In what every compiler of shader model 4 takes, Wine's too: no ternary operator, no integers but in Load.

Texture3D slab : register(t0);

cbuffer Voxel : register(b0)
{
    float4 weights; // of the bytes of a voxel, in the order of the file
    float4 sign;    // 1 / half of its range and its range, where it is signed, else 0; -1 where less is brighter
};

struct Vertex
{
    float4 position : SV_Position;
    float3 texel : TEXCOORD0;
};

Vertex place(float4 position : POSITION, float3 texel : TEXCOORD0)
{
    Vertex vertex;
    vertex.position = position;
    vertex.texel = texel;
    return vertex;
}

float4 decode(float4 position : SV_Position, float3 texel : TEXCOORD0) : SV_Target
{
    // Bytes come as parts of 255, rounded: what is nearest is what they were.
    float4 bytes = floor(slab.Load(int4(texel.x, texel.y, texel.z, 0)) * 255.0 + 0.5);
    float value = bytes.x * weights.x + bytes.y * weights.y;
    value = value - sign.y * floor(value * sign.x);
    value = value * sign.z;
    return float4(value, value, value, value);
}
