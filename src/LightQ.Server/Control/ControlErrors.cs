using LightQ.Grpc;
using LightQ.Protocol;

namespace LightQ.Server.Control;

/// <summary>Turns error codes into gRPC statuses; the code itself goes along in a trailer.</summary>
internal static class ControlErrors
{
    /// <summary>The trailer with the name of the <see cref="ErrorCode"/>.</summary>
    public const string CodeTrailer = "lightq-error-code";

    /// <summary>An error with the status that belongs to its code.</summary>
    public static GrpcException Make(ErrorCode code, string message, Exception? cause = null) => Make(StatusOf(code), code, message, cause);

    /// <summary>An error with a status of its own.</summary>
    public static GrpcException Make(GrpcStatusCode status, ErrorCode code, string message, Exception? cause = null) =>
        new(new GrpcStatus(status, message), new GrpcMetadata { { CodeTrailer, code.ToString() } }, cause);

    /// <summary>The gRPC status for a code.</summary>
    public static GrpcStatusCode StatusOf(ErrorCode code) => code switch
    {
        ErrorCode.InvalidArgument or ErrorCode.MalformedFrame or ErrorCode.MalformedBatch or ErrorCode.FrameTooLarge
            or ErrorCode.MessageTooLarge or ErrorCode.NotSupported => GrpcStatusCode.InvalidArgument,
        ErrorCode.UnknownTopic or ErrorCode.UnknownPartition or ErrorCode.UnknownGroup or ErrorCode.TopicDeleted
            or ErrorCode.UnknownUser or ErrorCode.UnknownToken => GrpcStatusCode.NotFound,
        ErrorCode.TopicExists or ErrorCode.UserExists => GrpcStatusCode.AlreadyExists,
        ErrorCode.Unauthenticated or ErrorCode.TlsFailed or ErrorCode.TlsRequired => GrpcStatusCode.Unauthenticated,
        ErrorCode.PermissionDenied => GrpcStatusCode.PermissionDenied,
        ErrorCode.ResourceExhausted or ErrorCode.WindowExceeded or ErrorCode.DiskFull => GrpcStatusCode.ResourceExhausted,
        ErrorCode.UnsupportedVersion or ErrorCode.UnexpectedFrame or ErrorCode.NotLeader or ErrorCode.StaleEpoch or ErrorCode.StreamBroken
            or ErrorCode.SequenceOverlap or ErrorCode.OutOfOrder or ErrorCode.UnknownProducer or ErrorCode.TopicFailed
            or ErrorCode.InvalidStream or ErrorCode.Closed or ErrorCode.GroupInUse => GrpcStatusCode.FailedPrecondition,
        ErrorCode.Fenced or ErrorCode.SlowConsumer => GrpcStatusCode.Aborted,
        ErrorCode.CorruptData => GrpcStatusCode.DataLoss,
        ErrorCode.OffsetOutOfRange => GrpcStatusCode.OutOfRange,
        ErrorCode.ShuttingDown or ErrorCode.Unavailable => GrpcStatusCode.Unavailable,
        ErrorCode.TimedOut => GrpcStatusCode.DeadlineExceeded,
        ErrorCode.None or ErrorCode.OutcomeUnknown => GrpcStatusCode.Unknown,
        ErrorCode.Internal => GrpcStatusCode.Internal,
        _ => throw new ArgumentOutOfRangeException(nameof(code), code, "an error code"),
    };
}
