using System.Net;
using System.Net.Http.Headers;
using Google.Protobuf;
using LightQ.Grpc.Framing;

namespace LightQ.Grpc.Calls;

/// <summary>Makes the HTTP request of a call.</summary>
internal static class GrpcRequest
{
    /// <summary>The body of a call with one request message.</summary>
    public static HttpContent Serialize(IMessage message, int maxMessageSize)
    {
        int size = GrpcFrame.Measure(message, maxMessageSize);
        byte[] frame = new byte[checked(GrpcFrame.PrefixLength + size)];
        GrpcFrame.Write(message, size, frame);
        return new ByteArrayContent(frame);
    }

    public static HttpRequestMessage Create(GrpcChannel channel, string path, GrpcCallOptions options, HttpContent content)
    {
        HttpRequestMessage request = new(HttpMethod.Post, new Uri(channel.Address, path))
        {
            Version = HttpVersion.Version20,
            VersionPolicy = HttpVersionPolicy.RequestVersionExact,
            Content = content,
        };
        content.Headers.ContentType = new MediaTypeHeaderValue(GrpcHeaders.ContentType);
        request.Headers.TE.Add(new TransferCodingWithQualityHeaderValue("trailers"));
        request.Headers.TryAddWithoutValidation("user-agent", channel.Options.UserAgent);
        request.Headers.TryAddWithoutValidation(GrpcHeaders.AcceptEncoding, GrpcHeaders.Identity);
        if (options.Timeout is { } timeout) request.Headers.TryAddWithoutValidation(GrpcHeaders.Timeout, GrpcTimeout.Format(timeout));
        foreach (GrpcMetadataEntry entry in options.Metadata ?? [])
            if (!request.Headers.TryAddWithoutValidation(entry.Name, entry.Value))
                throw new ArgumentException($"HTTP does not allow '{entry.Name}' among a request's headers.", nameof(options));
        return request;
    }
}
