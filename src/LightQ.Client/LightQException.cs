namespace LightQ.Client;

/// <summary>
/// An error with a code that programs can test. The SDK has one other exception of its own:
/// <see cref="UndecodableMessageException"/>, for a body that cannot be read.
/// </summary>
/// <remarks>
/// Besides these, it throws only the usual ones: <see cref="OperationCanceledException"/>,
/// <see cref="ArgumentException"/> and <see cref="ObjectDisposedException"/>.
/// </remarks>
public sealed class LightQException : Exception
{
    /// <summary>Creates the exception.</summary>
    /// <param name="code">Why the request failed.</param>
    /// <param name="message">What happened, for people.</param>
    /// <param name="innerException">What caused it, if anything did.</param>
    public LightQException(ErrorCode code, string message, Exception? innerException = null)
        : base(message.Length == 0 ? code.ToString() : message, innerException) => Code = code;

    /// <summary>Why the request failed; the same numbers on both planes.</summary>
    public ErrorCode Code { get; }

    /// <summary>
    /// Whether the same request may succeed later without any change. <see cref="ErrorCode.OutcomeUnknown"/> is not
    /// transient: repeating such a publish may store it twice.
    /// </summary>
    public bool IsTransient =>
        Code
            is ErrorCode.Internal
                or ErrorCode.ResourceExhausted
                or ErrorCode.NotLeader
                or ErrorCode.StreamBroken
                or ErrorCode.DiskFull
                or ErrorCode.ShuttingDown
                or ErrorCode.TimedOut
                or ErrorCode.Unavailable;

    /// <summary>Whether no connection could be made: the request has certainly not been sent.</summary>
    internal bool IsUnsent { get; init; }

    /// <summary>
    /// Another exception of the same content: one that several waiters throw would mix their stack traces.
    /// </summary>
    internal LightQException Copy() => new(Code, Message, InnerException) { IsUnsent = IsUnsent };
}
