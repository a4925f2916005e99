using System.Buffers;
using System.IO.Pipelines;
using Google.Protobuf;

namespace LightQ.Grpc.Framing;

/// <summary>Reads the messages of one direction of a call. One read at a time; the pipe belongs to the caller.</summary>
internal sealed class GrpcMessageReader(PipeReader pipe, int maxMessageSize, string? encoding)
{
    /// <summary>The next message, or null when the stream ended after a whole message.</summary>
    /// <exception cref="GrpcException">A message is too long, compressed, cut off or not parseable.</exception>
    /// <exception cref="OperationCanceledException">The pending read of the pipe was cancelled.</exception>
    public async ValueTask<T?> ReadAsync<T>(MessageParser<T> parser, CancellationToken cancellationToken)
        where T : class, IMessage<T>
    {
        while (true)
        {
            ReadResult result = await pipe.ReadAsync(cancellationToken).ConfigureAwait(false);
            ReadOnlySequence<byte> buffer = result.Buffer;
            SequencePosition examined = buffer.End;
            try
            {
                if (result.IsCanceled)
                {
                    // Also with messages at hand: the pipe says it once.
                    examined = buffer.Start;
                    throw new OperationCanceledException("The messages are not read any further.");
                }

                if (GrpcFrame.TryRead(ref buffer, maxMessageSize, out bool compressed, out ReadOnlySequence<byte> frame))
                {
                    examined = buffer.Start;
                    return Parse(parser, frame, compressed);
                }

                if (result.IsCompleted)
                    return buffer.IsEmpty ? null : throw new GrpcException(GrpcStatusCode.Internal, "The stream ended in the middle of a message.");
            }
            finally
            {
                pipe.AdvanceTo(buffer.Start, examined);
            }
        }
    }

    private T Parse<T>(MessageParser<T> parser, in ReadOnlySequence<byte> frame, bool compressed)
        where T : class, IMessage<T>
    {
        if (compressed) throw Compressed();
        if (!GrpcMessageLengths.Fit(parser, frame))
            throw new GrpcException(GrpcStatusCode.Internal, $"A message is not a valid {typeof(T).Name}: a field is longer than the message.");
        try
        {
            return parser.ParseFrom(frame);
        }
        catch (InvalidProtocolBufferException e)
        {
            throw new GrpcException(GrpcStatusCode.Internal, $"A message is not a valid {typeof(T).Name}.", e);
        }
    }

    private GrpcException Compressed() => encoding is null or GrpcHeaders.Identity
        ? new GrpcException(GrpcStatusCode.Internal, "A message is flagged as compressed, but the call names no compression.")
        : new GrpcException(GrpcStatusCode.Unimplemented, $"The compression '{encoding}' is not supported; send messages as they are.");
}
