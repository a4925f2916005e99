namespace LightQ.Server.Web;

/// <summary>An answer of the JSON protocol; what does not apply is absent.</summary>
internal sealed record AdminResponse
{
    public const string Ok = "ok",
        Error = "error";

    public string? BindUri { get; init; }

    public string? Cmd { get; init; }

    public string? Description { get; init; }

    public ulong? MessagesReceived { get; init; }

    public ulong? MessagesSent { get; init; }

    public uint? PublishersCount { get; init; }

    public ulong? QueueSize { get; init; }

    public required string Status { get; init; }

    public uint? SubscribersCount { get; init; }

    public string? Topic { get; init; }

    public ulong? TotalBytesRead { get; init; }

    public ulong? TotalBytesWritten { get; init; }
}
