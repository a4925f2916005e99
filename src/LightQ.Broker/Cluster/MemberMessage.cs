using System.Text.Json;
using System.Text.Json.Serialization;

namespace LightQ.Broker.Cluster;

/// <summary>What nodes say to each other. A node of another version leaves out what it does not know.</summary>
internal sealed record MemberMessage
{
    /// <summary>Who says it.</summary>
    public required string Node { get; init; }

    /// <summary>Its process: made anew with every start.</summary>
    public required Guid Run { get; init; }

    /// <summary>Grows with every message of the run: older ones that come late do not count.</summary>
    public required long Order { get; init; }

    /// <summary>What it says of itself.</summary>
    public MemberState State { get; init; }

    /// <summary>Whether others are to lead what they can, since it cannot serve it now.</summary>
    public bool IsUnfit { get; init; }

    /// <summary>Whether it has listened long enough to know who else there is.</summary>
    public bool IsSettled { get; init; }

    /// <summary><c>host:port</c> of its data plane.</summary>
    public string Data { get; init; } = "";

    /// <summary><c>host:port</c> of its control plane.</summary>
    public string Control { get; init; } = "";

    /// <summary>The broker's version.</summary>
    public string Version { get; init; } = "";

    /// <summary>The node's time, in unix milliseconds; 0 where it does not say.</summary>
    public long Time { get; init; }

    /// <summary>What is new of partitions, or a part of all.</summary>
    public IReadOnlyList<PartitionNews> Partitions { get; init; } = [];

    /// <summary>
    /// With a part of all that the node leads, claims or wants: which part, from 0. Null for changes.
    /// </summary>
    public int? Part { get; init; }

    /// <summary>How many parts there are.</summary>
    public int Parts { get; init; }

    /// <summary>With the first part of all: what is wrong, as the node sees it. Null in other messages.</summary>
    public IReadOnlyList<ClusterCondition>? Conditions { get; init; }

    /// <summary>What another node is asked to do.</summary>
    public MemberCommand? Command { get; init; }

    /// <summary>What became of a command.</summary>
    public MemberAnswer? Answer { get; init; }

    /// <summary>The bytes of it.</summary>
    public byte[] Encode() => JsonSerializer.SerializeToUtf8Bytes(this, MemberJson.Default.MemberMessage);

    /// <summary>Reads what <see cref="Encode"/> made.</summary>
    /// <exception cref="JsonException">It is something else.</exception>
    public static MemberMessage Decode(ReadOnlySpan<byte> bytes) =>
        JsonSerializer.Deserialize(bytes, MemberJson.Default.MemberMessage) ?? throw new JsonException("null");

    /// <summary>
    /// Whether of two nodes with one name the first keeps it: the one that was there before, which has settled; between
    /// equals, the lower run.
    /// </summary>
    public static bool Keeps(bool isSettled, Guid run, bool isOtherSettled, Guid otherRun) =>
        isSettled == isOtherSettled ? run.CompareTo(otherRun) < 0 : isSettled;
}

/// <summary>The messages' format.</summary>
[JsonSourceGenerationOptions(DefaultIgnoreCondition = JsonIgnoreCondition.WhenWritingDefault)]
[JsonSerializable(typeof(MemberMessage))]
internal sealed partial class MemberJson : JsonSerializerContext;
