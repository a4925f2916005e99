using System.IO.Pipelines;
using Google.Protobuf;
using LightQ.Grpc.Framing;

namespace LightQ.Grpc.AspNetCore.Calls;

/// <summary>Writes response messages into the body.</summary>
internal static class GrpcMessageWriter
{
    public static void Write(GrpcServerCallContext context, IMessage message)
    {
        context.CancellationToken.ThrowIfCancellationRequested();
        int size = GrpcFrame.Measure(message, context.Options.MaxSendMessageSize);
        context.ApplyResponseHeaders();
        GrpcFrame.Write(message, size, context.HttpContext.Response.BodyWriter);
    }

    public static async ValueTask FlushAsync(GrpcServerCallContext context)
    {
        FlushResult result = await context.HttpContext.Response.BodyWriter.FlushAsync(context.CancellationToken).ConfigureAwait(false);
        if (result.IsCompleted) throw new OperationCanceledException("The client takes no more responses.");
    }
}
