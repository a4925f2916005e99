using System.Buffers;
using System.IO.Pipelines;
using LightQ.Protocol.Frames;
using LightQ.Server.Tls;
using Microsoft.AspNetCore.Connections;

namespace LightQ.Server.Ports;

/// <summary>
/// Answers a data-plane client that came to an HTTP port in its own language. HTTP/2 would leave it waiting without a
/// word.
/// </summary>
internal static class MisplacedHello
{
    /// <summary>Where a frame has its type, and a request of HTTP a letter.</summary>
    private const int TypeOffset = sizeof(uint);

    /// <summary>Looks at the first bytes of a connection before <paramref name="next"/> does.</summary>
    /// <param name="reason">The reason for the client.</param>
    /// <param name="patience">How long the first bytes may take.</param>
    /// <param name="time">The clock.</param>
    /// <param name="spokeTls">
    /// Called for a peer that speaks TLS, which this port does not if such bytes get here.
    /// </param>
    /// <param name="next">Serves the connection if it is not misplaced.</param>
    public static ConnectionDelegate Answer(
        string reason,
        TimeSpan patience,
        TimeProvider time,
        Action<ConnectionContext> spokeTls,
        ConnectionDelegate next
    ) =>
        async connection =>
        {
            try
            {
                byte[] first = await ReadFirstAsync(connection.Transport.Input, patience, time).ConfigureAwait(false);
                if (FirstBytes.AreTls(first))
                {
                    spokeTls(connection); // What serves the port answers in the clear, from which a TLS client knows.
                }
                else if (first.Length > TypeOffset && first[TypeOffset] == (byte)FrameType.Hello)
                {
                    TakeAll(connection.Transport.Input);
                    FrameCodec.Write(
                        connection.Transport.Output,
                        new ErrorFrame(ErrorCode.UnexpectedFrame, reason),
                        0,
                        0
                    );
                    await connection.Transport.Output.FlushAsync().ConfigureAwait(false);
                    return;
                }
            }
            catch (Exception e) when (e is IOException or OperationCanceledException)
            {
                return; // The peer has gone, or never said a thing.
            }
            await next(connection).ConfigureAwait(false);
        };

    /// <summary>The bytes up to a frame's type, without taking them; fewer when the peer sends no more.</summary>
    private static async Task<byte[]> ReadFirstAsync(PipeReader input, TimeSpan patience, TimeProvider time)
    {
        using var enough = new CancellationTokenSource(patience, time);
        while (true)
        {
            ReadResult read = await input.ReadAsync(enough.Token).ConfigureAwait(false);
            ReadOnlySequence<byte> bytes = read.Buffer;
            if (bytes.Length <= TypeOffset && !read.IsCompleted)
            {
                input.AdvanceTo(bytes.Start, bytes.End);
                continue;
            }
            byte[] first = bytes.Slice(0, Math.Min(bytes.Length, TypeOffset + 1)).ToArray();
            input.AdvanceTo(bytes.Start);
            return first;
        }
    }

    /// <summary>
    /// What the peer has sent is taken, or its end of the connection would be reset before it has read the answer.
    /// </summary>
    private static void TakeAll(PipeReader input)
    {
        if (input.TryRead(out ReadResult read))
            input.AdvanceTo(read.Buffer.End);
    }
}
