namespace LightQ.Client.Telemetry;

/// <summary>Attributes of spans and metrics, as OpenTelemetry's semantic conventions for messaging name them.</summary>
internal static class Attributes
{
    public const string System = "messaging.system";
    public const string OperationName = "messaging.operation.name";
    public const string OperationType = "messaging.operation.type";
    public const string Destination = "messaging.destination.name";
    public const string Partition = "messaging.destination.partition.id";
    public const string Group = "messaging.consumer.group.name";
    public const string MessageId = "messaging.message.id";
    public const string MessageCount = "messaging.batch.message_count";
    public const string ErrorType = "error.type";
    public const string ServerAddress = "server.address";
    public const string ServerPort = "server.port";
}
