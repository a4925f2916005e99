using System.Text.Json.Serialization;

namespace LightQ.Client;

/// <summary>
/// Why a request was rejected. The same numbers are used in data-plane frames, in the <c>lightq-error-code</c> trailer
/// of the control plane, and in the SDK's exception. A number is never used again, even after its code was removed.
/// </summary>
[JsonConverter(typeof(JsonStringEnumConverter<ErrorCode>))]
public enum ErrorCode : ushort
{
    /// <summary>No error.</summary>
    None = 0,

    /// <summary>Something inside the broker failed; the broker's log has the details. Retrying may help.</summary>
    Internal = 1,

    /// <summary>
    /// The bytes do not follow the frame layout, or a field has a value outside its range. The connection closes.
    /// </summary>
    MalformedFrame = 2,

    /// <summary>A batch is damaged or contradicts itself. The producer stream is broken.</summary>
    MalformedBatch = 3,

    /// <summary>
    /// The peer speaks no common version, or requires a feature that this side lacks. The connection closes.
    /// </summary>
    UnsupportedVersion = 4,

    /// <summary>A frame arrived that the connection's state does not allow. The connection closes.</summary>
    UnexpectedFrame = 5,

    /// <summary>A frame is longer than the limit in force. The connection closes.</summary>
    FrameTooLarge = 6,

    /// <summary>A batch or a message is longer than the topic's limit. The producer stream is broken.</summary>
    MessageTooLarge = 7,

    /// <summary>An argument is outside its range; the message names it and what is allowed.</summary>
    InvalidArgument = 8,

    /// <summary>No topic has that name.</summary>
    UnknownTopic = 9,

    /// <summary>A topic of that name exists with other settings.</summary>
    TopicExists = 10,

    /// <summary>The topic has no such partition.</summary>
    UnknownPartition = 11,

    /// <summary>The topic does not support the request: for example, its kind cannot reach the ack level.</summary>
    NotSupported = 12,

    /// <summary>Credentials are missing or wrong.</summary>
    Unauthenticated = 13,

    /// <summary>The client has no right to do what it requests.</summary>
    PermissionDenied = 14,

    /// <summary>A limit on resources is reached; the message names it.</summary>
    ResourceExhausted = 15,

    /// <summary>
    /// The producer sent more bytes than its publish window allows: the connection closes. Or it sent more
    /// unacknowledged batches than it may: the producer stream is broken.
    /// </summary>
    WindowExceeded = 16,

    /// <summary>This broker does not lead the partition.</summary>
    NotLeader = 17,

    /// <summary>The peer knows an older epoch of the log than the current one.</summary>
    StaleEpoch = 18,

    /// <summary>
    /// An earlier error broke this producer stream: nothing that was sent after it was stored. Reopen the stream to go
    /// on.
    /// </summary>
    StreamBroken = 19,

    /// <summary>A batch of a named producer overlaps what is stored without being equal to it.</summary>
    SequenceOverlap = 20,

    /// <summary>A batch of a named producer leaves a gap after what is stored.</summary>
    OutOfOrder = 21,

    /// <summary>A newer producer of the same name has taken over.</summary>
    Fenced = 22,

    /// <summary>
    /// The broker no longer remembers this producer; whether its unacknowledged batches were stored is unknown.
    /// </summary>
    UnknownProducer = 23,

    /// <summary>The disk is full: nothing is appended until there is space again. Reads go on.</summary>
    DiskFull = 24,

    /// <summary>
    /// The subscription was slower than its policy allows; the error message says what was not sent to it.
    /// </summary>
    SlowConsumer = 25,

    /// <summary>The topic's journal failed: nothing is appended until a restart with recovery. Reads go on.</summary>
    TopicFailed = 26,

    /// <summary>Stored bytes fail their checksum; the message names the offset range.</summary>
    CorruptData = 27,

    /// <summary>The topic was deleted.</summary>
    TopicDeleted = 28,

    /// <summary>The broker is stopping.</summary>
    ShuttingDown = 29,

    /// <summary>The stream id is already in use on this connection, or names no open stream.</summary>
    InvalidStream = 30,

    /// <summary>
    /// The peer was silent for longer than the heartbeat allows, did not finish the handshake in time, or sent a frame
    /// too slowly.
    /// </summary>
    TimedOut = 31,

    /// <summary>SDK only: the broker cannot be reached.</summary>
    Unavailable = 32,

    /// <summary>
    /// SDK only: the connection was lost before the answer; the broker may or may not have stored the messages.
    /// </summary>
    OutcomeUnknown = 33,

    /// <summary>SDK only: the object was closed.</summary>
    Closed = 34,

    /// <summary>The topic has no group of that name.</summary>
    UnknownGroup = 35,

    /// <summary>The group has members.</summary>
    GroupInUse = 36,

    /// <summary>
    /// The TLS handshake failed: one side does not use TLS, or does not accept the other's certificate. The connection
    /// closes.
    /// </summary>
    TlsFailed = 37,

    /// <summary>No user has that name.</summary>
    UnknownUser = 38,

    /// <summary>A user of that name exists.</summary>
    UserExists = 39,

    /// <summary>No token has that id.</summary>
    UnknownToken = 40,

    /// <summary>SDK only: the log no longer holds the messages; retention or a truncation has removed them.</summary>
    OffsetOutOfRange = 41,

    /// <summary>
    /// SDK only: a password or a token would be sent beyond this machine without TLS. Nothing was sent.
    /// </summary>
    TlsRequired = 42,
}
