using System.Net;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Connections;

/// <summary>Every log line of the data plane.</summary>
internal static partial class ConnectionLog
{
    [LoggerMessage(1001, LogLevel.Warning, "Connection {Id} from {Remote} was refused: {Code}, {Reason}")]
    public static partial void Refused(ILogger logger, uint id, EndPoint? remote, ErrorCode code, string reason);

    [LoggerMessage(1002, LogLevel.Error, "Connection {Id} from {Remote} failed inside the broker")]
    public static partial void Crashed(ILogger logger, Exception exception, uint id, EndPoint? remote);

    [LoggerMessage(
        1021,
        LogLevel.Warning,
        "The clock of the client '{Client}', connection {Id} from {Remote}, differs from the broker's by {Skew}. The "
            + "broker's decides about its messages; what it gives as a point in time is off by that"
    )]
    public static partial void Skewed(ILogger logger, uint id, string client, EndPoint? remote, string skew);

    [LoggerMessage(1020, LogLevel.Warning, "Connection {Id} from {Remote} was refused: the peer {Reason}")]
    public static partial void NoTls(ILogger logger, uint id, EndPoint? remote, string reason);
}
