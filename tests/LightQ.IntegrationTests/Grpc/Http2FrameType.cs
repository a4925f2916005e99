namespace LightQ.IntegrationTests.Grpc;

/// <summary>What a frame of HTTP/2 is.</summary>
internal enum Http2FrameType : byte
{
    Data = 0,
    Headers = 1,
    Reset = 3,
    Settings = 4,
    Ping = 6,
    GoAway = 7,
    WindowUpdate = 8,
}
