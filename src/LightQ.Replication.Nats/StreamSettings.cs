using NATS.Client.JetStream.Models;

namespace LightQ.Replication.Nats;

/// <summary>The settings of a replicated stream on the servers.</summary>
internal static class StreamSettings
{
    /// <summary>
    /// Nothing is removed but by a purge: retention knows of delays and snapshots, the servers do not. No entry carries
    /// a message id, so that the window for duplicates, which must be above 0, has nothing to remember.
    /// </summary>
    /// <remarks>
    /// An entry's size has no limit of the stream's own: the servers' max_payload is one, and a stream made before it
    /// was raised would keep the old.
    /// </remarks>
    public static StreamConfig Create(StreamNames names, int replicas) =>
        new(names.Stream, names.Subjects)
        {
            Storage = StreamConfigStorage.File,
            Retention = StreamConfigRetention.Limits,
            Discard = StreamConfigDiscard.Old,
            MaxConsumers = -1,
            MaxMsgs = -1,
            MaxMsgsPerSubject = -1,
            MaxBytes = -1,
            MaxMsgSize = -1,
            MaxAge = TimeSpan.Zero,
            NumReplicas = replicas,
            AllowDirect = true,
            DenyDelete = true,
            DenyPurge = false,
            DuplicateWindow = TimeSpan.FromSeconds(1),
        };

    /// <summary>The first setting in which a stream is another than it should be; null when it is the same.</summary>
    public static string? FindDifference(StreamConfig wanted, StreamConfig found)
    {
        (string Name, object? Wanted, object? Found)[] settings =
        [
            ("subjects", Text(wanted.Subjects), Text(found.Subjects)),
            ("storage", wanted.Storage, found.Storage),
            ("num_replicas", wanted.NumReplicas, found.NumReplicas),
            ("retention", wanted.Retention, found.Retention),
            ("discard", wanted.Discard, found.Discard),
            ("max_msgs", Limit(wanted.MaxMsgs), Limit(found.MaxMsgs)),
            ("max_msgs_per_subject", Limit(wanted.MaxMsgsPerSubject), Limit(found.MaxMsgsPerSubject)),
            ("max_bytes", Limit(wanted.MaxBytes), Limit(found.MaxBytes)),
            ("max_msg_size", Limit(wanted.MaxMsgSize), Limit(found.MaxMsgSize)),
            ("max_age", wanted.MaxAge, found.MaxAge),
            ("allow_direct", wanted.AllowDirect, found.AllowDirect),
            ("deny_delete", wanted.DenyDelete, found.DenyDelete),
            ("deny_purge", wanted.DenyPurge, found.DenyPurge),
            ("no_ack", wanted.NoAck, found.NoAck),
            ("sealed", wanted.Sealed, found.Sealed),
            ("mirror", wanted.Mirror?.Name, found.Mirror?.Name),
            ("sources", wanted.Sources?.Count ?? 0, found.Sources?.Count ?? 0),
        ];
        foreach ((string name, object? want, object? have) in settings)
        {
            if (!Equals(want, have))
                return $"{name} is {have ?? "absent"} and not {want ?? "absent"}";
        }
        return null;
    }

    // No limit is -1, and 0 with some versions.
    private static long Limit(long value) => value <= 0 ? -1 : value;

    private static string Text(IEnumerable<string>? subjects) =>
        string.Join(',', (subjects ?? []).Order(StringComparer.Ordinal));
}
