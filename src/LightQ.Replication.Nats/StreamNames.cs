using LightQ.Broker.Replication;

namespace LightQ.Replication.Nats;

/// <summary>The subjects of a stream: one a kind of entry.</summary>
internal sealed class StreamNames
{
    private readonly string _claim,
        _data,
        _positions,
        _snapshot;

    public StreamNames(string stream)
    {
        if (!IsName(stream))
            throw new ArgumentException($"'{stream}' has other than letters, digits, underscores and hyphens.");
        Stream = stream;
        (_claim, _data) = (SubjectOf('c'), SubjectOf('d'));
        (_positions, _snapshot) = (SubjectOf('g'), SubjectOf('s'));
    }

    public string Stream { get; }

    /// <summary>All of them, as the stream's settings say it.</summary>
    public string[] Subjects => [_claim, _data, _positions, _snapshot];

    /// <summary>What any of them matches.</summary>
    public string Any => $"lq.{Stream}.*";

    /// <summary>
    /// The subject of a channel. It has one part less than those of streams, so that none of them takes it in.
    /// </summary>
    public static string Channel(string name) =>
        IsName(name)
            ? $"lq.{name}"
            : throw new ArgumentException($"'{name}' has other than letters, digits, underscores and hyphens.");

    public static bool IsName(string name) =>
        name.Length != 0 && name.All(c => char.IsAsciiLetterOrDigit(c) || c is '_' or '-');

    public string Subject(EntryKind kind) =>
        kind switch
        {
            EntryKind.Claim => _claim,
            EntryKind.Data => _data,
            EntryKind.Positions => _positions,
            EntryKind.Snapshot => _snapshot,
            _ => throw new ArgumentOutOfRangeException(nameof(kind), kind, "no such kind of entry"),
        };

    public EntryKind Kind(string subject) =>
        subject == _data ? EntryKind.Data
        : subject == _claim ? EntryKind.Claim
        : subject == _snapshot ? EntryKind.Snapshot
        : subject == _positions ? EntryKind.Positions
        : throw new ReplicationException(
            $"Stream {Stream} holds an entry of subject '{subject}', which is none of it."
        );

    private string SubjectOf(char kind) => $"lq.{Stream}.{kind}";
}
