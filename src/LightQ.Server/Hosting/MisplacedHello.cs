using System.Buffers;
using System.IO.Pipelines;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using Microsoft.AspNetCore.Connections;

namespace LightQ.Server.Hosting;

/// <summary>Answers a data-plane client that came to an HTTP port in its own language. HTTP/2 would leave it waiting without a word.</summary>
internal static class MisplacedHello
{
    /// <summary>Where a frame has its type, and a request of HTTP a letter.</summary>
    private const int TypeOffset = sizeof(uint);

    /// <summary>As long as Kestrel waits for a first request.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(130);

    /// <summary>Looks at the first bytes of a connection before <paramref name="next"/> does.</summary>
    /// <param name="reason">What the client is told.</param>
    /// <param name="time">The clock.</param>
    /// <param name="next">Who serves the connection if it is not misplaced.</param>
    public static ConnectionDelegate Answer(string reason, TimeProvider time, ConnectionDelegate next) => async connection =>
    {
        try
        {
            if (await IsHelloAsync(connection.Transport.Input, time).ConfigureAwait(false))
            {
                FrameCodec.Write(connection.Transport.Output, new ErrorFrame(ErrorCode.UnexpectedFrame, reason), 0, 0);
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

    private static async Task<bool> IsHelloAsync(PipeReader input, TimeProvider time)
    {
        using var enough = new CancellationTokenSource(Patience, time);
        while (true)
        {
            ReadResult read = await input.ReadAsync(enough.Token).ConfigureAwait(false);
            ReadOnlySequence<byte> bytes = read.Buffer;
            if (!new SequenceReader<byte>(bytes).TryPeek(TypeOffset, out byte type) && !read.IsCompleted)
            {
                input.AdvanceTo(bytes.Start, bytes.End);
                continue;
            }
            bool isHello = type == (byte)FrameType.Hello;
            // What the peer has sent is taken, or its end of the connection would be reset before it has read the answer.
            input.AdvanceTo(isHello ? bytes.End : bytes.Start);
            return isHello;
        }
    }
}
