using System.Text.Json.Serialization;

namespace LightQ.Replication.Nats;

/// <summary>What JetStream says and hears in JSON, as far as the client's library does not do it.</summary>
[JsonSerializable(typeof(PublishAck))]
[JsonSerializable(typeof(MessageAnswer))]
[JsonSerializable(typeof(MessageQuestion))]
[JsonSourceGenerationOptions(DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingDefault)]
internal sealed partial class JetStreamMessages : JsonSerializerContext;

/// <summary>The answer to a publish into a stream.</summary>
internal sealed record PublishAck(
    [property: JsonPropertyName("stream")] string? Stream,
    [property: JsonPropertyName("seq")] ulong Sequence,
    [property: JsonPropertyName("duplicate")] bool Duplicate,
    [property: JsonPropertyName("error")] ServerError? Error
);

internal sealed record ServerError(
    [property: JsonPropertyName("code")] int Code,
    [property: JsonPropertyName("err_code")] int ErrorCode,
    [property: JsonPropertyName("description")] string? Description
)
{
    public override string ToString() => $"{Description} ({ErrorCode})";
}

/// <summary>A question for one message: of a sequence, the last of a subject, or the next of one.</summary>
internal sealed record MessageQuestion(
    [property: JsonPropertyName("seq")] ulong Sequence,
    [property: JsonPropertyName("last_by_subj")] string? Last = null,
    [property: JsonPropertyName("next_by_subj")] string? Next = null
);

/// <summary>The leader's answer to it.</summary>
internal sealed record MessageAnswer(
    [property: JsonPropertyName("message")] StoredMessage? Message,
    [property: JsonPropertyName("error")] ServerError? Error
);

internal sealed record StoredMessage(
    [property: JsonPropertyName("subject")] string Subject,
    [property: JsonPropertyName("seq")] ulong Sequence,
    [property: JsonPropertyName("data")] byte[]? Data
);
