using System.IO.Pipelines;
using Google.Protobuf;
using LightQ.Grpc.Framing;

namespace LightQ.Grpc.AspNetCore.Calls;

/// <summary>Writes response messages into the body.</summary>
internal static class GrpcMessageWriter
{
    /// <summary>Puts a message into the body.</summary>
    /// <remarks>
    /// The room for all of it is asked for once. Protobuf, given the writer, would ask for more until it had written everything; and a writer whose client has reset the stream may have none.
    /// </remarks>
    public static void Write(GrpcServerCallContext context, IMessage message)
    {
        context.CancellationToken.ThrowIfCancellationRequested();
        int size = GrpcFrame.Measure(message, context.Options.MaxSendMessageSize);
        context.ApplyResponseHeaders();
        PipeWriter body = context.HttpContext.Response.BodyWriter;
        int length = checked(GrpcFrame.PrefixLength + size);
        GrpcFrame.Write(message, size, body.GetSpan(length));
        body.Advance(length);
    }

    public static async ValueTask FlushAsync(GrpcServerCallContext context)
    {
        FlushResult result = await context.HttpContext.Response.BodyWriter.FlushAsync(context.CancellationToken).ConfigureAwait(false);
        if (result.IsCompleted) throw new OperationCanceledException("The client takes no more responses.");
    }
}
