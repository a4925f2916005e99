namespace LightQ.IntegrationTests.Grpc;

/// <summary>A frame of HTTP/2.</summary>
internal readonly record struct Http2Frame(Http2FrameType Type, byte Flags, int Stream, byte[] Payload)
{
    public const byte EndStreamFlag = 1,
        AckFlag = 1,
        EndHeadersFlag = 4;

    /// <summary>Whether nothing more comes of the stream.</summary>
    public bool IsLast =>
        Type == Http2FrameType.Reset
        || (Type is Http2FrameType.Data or Http2FrameType.Headers && (Flags & EndStreamFlag) != 0);
}
