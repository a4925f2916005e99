using Google.Protobuf.WellKnownTypes;
using Google.Rpc;
using Grpc.Core;
using LightQ.Broker;
using Status = Grpc.Core.Status;

namespace LightQ.Server.Control;

/// <summary>
/// Turns error codes into gRPC statuses. The code goes along in a trailer, and as details in gRPC's richer form.
/// </summary>
internal static class ControlErrors
{
    /// <summary>The trailer with the name of the <see cref="ErrorCode"/>.</summary>
    public const string CodeTrailer = "lightq-error-code";

    /// <summary>Whose reasons the details are: <c>google.rpc.ErrorInfo.domain</c>.</summary>
    public const string Domain = "lightq";

    /// <summary>The code of a refusal, by this node or another; null for what has none.</summary>
    public static ErrorCode? CodeOf(Exception thrown) =>
        thrown switch
        {
            BrokerException refused => refused.Code,
            RpcException told when System.Enum.TryParse(told.Trailers.GetValue(CodeTrailer), out ErrorCode code) =>
                code,
            _ => null,
        };

    /// <summary>An error with the status that belongs to its code.</summary>
    public static RpcException Make(ErrorCode code, string message, Exception? cause = null) =>
        Make(StatusOf(code), code, message, cause);

    /// <summary>An error with a status of its own.</summary>
    public static RpcException Make(StatusCode status, ErrorCode code, string message, Exception? cause = null)
    {
        var trailers = new Metadata { { CodeTrailer, code.ToString() } };
        trailers.SetRpcStatus(
            new Google.Rpc.Status
            {
                Code = (int)status,
                Message = message,
                Details = { Any.Pack(new ErrorInfo { Domain = Domain, Reason = code.ToString() }) },
            }
        );
        return new RpcException(new Status(status, message, cause), trailers);
    }

    /// <summary>The gRPC status for a code.</summary>
    public static StatusCode StatusOf(ErrorCode code) =>
        code switch
        {
            ErrorCode.InvalidArgument
            or ErrorCode.MalformedFrame
            or ErrorCode.MalformedBatch
            or ErrorCode.FrameTooLarge
            or ErrorCode.MessageTooLarge
            or ErrorCode.NotSupported => StatusCode.InvalidArgument,
            ErrorCode.UnknownTopic
            or ErrorCode.UnknownPartition
            or ErrorCode.UnknownGroup
            or ErrorCode.TopicDeleted
            or ErrorCode.UnknownUser
            or ErrorCode.UnknownToken => StatusCode.NotFound,
            ErrorCode.TopicExists or ErrorCode.UserExists => StatusCode.AlreadyExists,
            ErrorCode.Unauthenticated or ErrorCode.TlsFailed or ErrorCode.TlsRequired => StatusCode.Unauthenticated,
            ErrorCode.PermissionDenied => StatusCode.PermissionDenied,
            ErrorCode.ResourceExhausted or ErrorCode.WindowExceeded or ErrorCode.DiskFull =>
                StatusCode.ResourceExhausted,
            ErrorCode.UnsupportedVersion
            or ErrorCode.UnexpectedFrame
            or ErrorCode.NotLeader
            or ErrorCode.StaleEpoch
            or ErrorCode.StreamBroken
            or ErrorCode.SequenceOverlap
            or ErrorCode.OutOfOrder
            or ErrorCode.UnknownProducer
            or ErrorCode.TopicFailed
            or ErrorCode.InvalidStream
            or ErrorCode.Closed
            or ErrorCode.GroupInUse => StatusCode.FailedPrecondition,
            ErrorCode.Fenced or ErrorCode.SlowConsumer => StatusCode.Aborted,
            ErrorCode.CorruptData => StatusCode.DataLoss,
            ErrorCode.OffsetOutOfRange => StatusCode.OutOfRange,
            ErrorCode.ShuttingDown or ErrorCode.Unavailable => StatusCode.Unavailable,
            ErrorCode.TimedOut => StatusCode.DeadlineExceeded,
            ErrorCode.None or ErrorCode.OutcomeUnknown => StatusCode.Unknown,
            ErrorCode.Internal => StatusCode.Internal,
            _ => throw new ArgumentOutOfRangeException(nameof(code), code, "an error code"),
        };
}
