using System.Diagnostics;
using LightQ.Client.Telemetry;

namespace LightQ.Client.Publishing;

/// <summary>What a producer does on one partition. Each is made when it is first observed.</summary>
internal sealed class PublishOperations(LightQClientOptions broker, string topic)
{
    private Operation? _send;
    private Operation? _sendCreated;
    private Operation? _create;

    /// <summary>The partition; set when the broker has said which.</summary>
    public int Partition { get; set; }

    /// <summary>Publishing one message, whose creation that is.</summary>
    public Operation Send => _send ??= new Operation("send", "send", ActivityKind.Producer, Place);

    /// <summary>Publishing messages that bring contexts of their own.</summary>
    public Operation SendCreated => _sendCreated ??= new Operation("send", "send", ActivityKind.Client, Place);

    /// <summary>Adding a message to a batch.</summary>
    public Operation Create => _create ??= new Operation("create", "create", ActivityKind.Producer, Place);

    private OperationPlace Place => new(broker, topic, Partition);

    /// <summary>Counts a batch that was sent, and how long it took.</summary>
    /// <param name="messages">How many messages.</param>
    /// <param name="startedAt">The clock's stamp of its first message; 0 when nothing was measured then.</param>
    /// <param name="error">Why it failed, if it did.</param>
    public void Measure(int messages, long startedAt, string? error = null)
    {
        if (Instruments.SentMessages.Enabled)
            Send.Count(Instruments.SentMessages, messages, error);
        if (startedAt != 0 && Instruments.OperationDuration.Enabled)
            Send.Record(Instruments.OperationDuration, broker.TimeProvider.GetElapsedTime(startedAt), error);
    }
}
