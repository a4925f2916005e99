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

    [LoggerMessage(1020, LogLevel.Warning, "Connection {Id} from {Remote} was refused: the peer {Reason}")]
    public static partial void NoTls(ILogger logger, uint id, EndPoint? remote, string reason);
}
