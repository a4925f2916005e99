namespace LightQ.Grpc;

/// <summary>The outcome of a call: a code and a message for people.</summary>
/// <param name="Code">The outcome.</param>
/// <param name="Message">What went wrong, in any Unicode text; empty when there is nothing to say.</param>
public readonly record struct GrpcStatus(GrpcStatusCode Code, string Message)
{
    /// <summary>Success, without a message.</summary>
    public static GrpcStatus Ok { get; } = new(GrpcStatusCode.Ok, string.Empty);

    /// <inheritdoc/>
    public override string ToString() => string.IsNullOrEmpty(Message) ? Code.ToString() : $"{Code}: {Message}";
}
