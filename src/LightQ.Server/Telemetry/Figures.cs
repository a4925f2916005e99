using LightQ.Broker;
using LightQ.Server.Configuration;

namespace LightQ.Server.Telemetry;

/// <summary>Every figure, in the order of the page of metrics.</summary>
internal static class Figures
{
    /// <summary>Those of the broker: what its meter has.</summary>
    public static IReadOnlyList<Figure> OfBroker { get; } =
    [.. Server(), .. TopicFigureList.All, .. GroupFigureList.All, .. ClusterFigureList.All, .. Storage()];

    /// <summary>Those of the broker and of the process around it: what the page has. OpenTelemetry has the latter from
    /// the runtime's own meter, <c>System.Runtime</c>.</summary>
    public static IReadOnlyList<Figure> All { get; } = [.. OfBroker, .. ProcessFigureList.All];

    /// <summary>One sample without tags.</summary>
    public static IEnumerable<FigureSample> One(double value) => [new(value)];

    /// <summary>Likewise, 1 for true.</summary>
    public static IEnumerable<FigureSample> One(bool value) => One(value ? 1 : 0);

    private static Figure[] Server() =>
        [
            new(
                "lightq.build_info",
                FigureKind.Gauge,
                "",
                "Always 1; the label has the version.",
                _ => [new(1, ServerVersion.Text)],
                "version"
            ),
            new(
                "lightq.ready",
                FigureKind.Gauge,
                "",
                "1 while the broker takes work.",
                r => One(r.Source.Readiness.NotReadyReason is null)
            ),
            new(
                "lightq.catalog.unconfirmed",
                FigureKind.Gauge,
                "",
                "1 while only admin may log in, because a repair of the catalog is not confirmed.",
                r => One(r.Source.Degradation.IsLimitedToAdmin)
            ),
            new(
                "lightq.start_time",
                FigureKind.Gauge,
                "s",
                "When the broker started, in seconds since 1970.",
                r => One(r.Source.Broker.Started.ToUnixTimeMilliseconds() / 1000.0)
            ),
            new(
                "lightq.tls.certificate.end",
                FigureKind.Gauge,
                "s",
                "When the certificate in force ends, in seconds since 1970; only with TLS.",
                r =>
                    r.Source.Tls is { } tls ? One(new DateTimeOffset(tls.Certificate.NotAfter).ToUnixTimeSeconds()) : []
            ),
            new(
                "lightq.user.token.end",
                FigureKind.Gauge,
                "s",
                "When the first of a user's tokens ends, in seconds since 1970; for those who may list users.",
                r =>
                    r.SeesUsers
                        ? r
                            .Source.Broker.Users.Table.Tokens.Values.Where(t =>
                                t.Expires is not null && !r.Source.Broker.Users.HasExpired(t)
                            )
                            .GroupBy(t => t.User)
                            .Select(of => new FigureSample(of.Min(t => t.Expires!.Value).ToUnixTimeSeconds(), of.Key))
                        : [],
                "user"
            ),
            new(
                "lightq.connections",
                FigureKind.UpDownCounter,
                "{connection}",
                "Open data-plane connections.",
                r => One(r.Source.Listener.Count)
            ),
            new(
                "lightq.limit.refusals",
                FigureKind.Counter,
                "{refusal}",
                "What was refused because a limit was met, by the setting that is the limit.",
                r =>
                    ServerSettings
                        .All.Where(s => s.IsLimit)
                        .Select(s => new FigureSample(r.Source.Limits.Refusals[s.Key], s.Key)),
                "limit"
            ),
            new(
                "lightq.accept.failures",
                FigureKind.Counter,
                "{failure}",
                "Tries to accept a connection that failed, most likely for want of descriptors.",
                r => One(r.Source.Limits.AcceptFailures)
            ),
            new(
                "lightq.disk.free",
                FigureKind.Gauge,
                "By",
                "Bytes that the disk under the data directory still takes.",
                r => One(r.Source.Broker.FreeBytes)
            ),
            new(
                "lightq.catalog.failed",
                FigureKind.Gauge,
                "",
                "1 while the catalog cannot be stored: a restart may undo what was changed of topics, users and "
                    + "rights.",
                r => One(r.Source.Broker.FailureOf(StoredState.Catalog) is not null)
            ),
            new(
                "lightq.positions.failed",
                FigureKind.Gauge,
                "",
                "1 while the positions of groups cannot be stored: what they settle is redelivered after an unclean "
                    + "stop.",
                r => One(r.Source.Broker.FailureOf(StoredState.Positions) is not null)
            ),
            new(
                "lightq.audit.failed",
                FigureKind.Gauge,
                "",
                "1 while the audit log cannot be written.",
                r => r.Source.Degradation.IsAuditFailing is { } isFailing ? One(isFailing) : []
            ),
            new(
                "lightq.pending",
                FigureKind.UpDownCounter,
                "By",
                "Bytes of batches that wait in memory because their topics are full.",
                r => One(r.Source.Broker.PendingBytes)
            ),
            new("lightq.topics", FigureKind.UpDownCounter, "{topic}", "Topics.", r => One(r.Topics.Count)),
        ];

    private static Figure[] Storage() =>
        [
            new(
                "lightq.spilled",
                FigureKind.UpDownCounter,
                "By",
                "Bytes of backlogs that slow subscriptions spill, in memory and on disk.",
                r => One(r.Source.Broker.SpilledBytes)
            ),
            new(
                "lightq.backlog.memory",
                FigureKind.UpDownCounter,
                "By",
                "Bytes of memory for what slow subscriptions keep outside their rings.",
                r => One(r.Source.Broker.BacklogMemoryBytes)
            ),
            new(
                "lightq.syncs",
                FigureKind.Counter,
                "{sync}",
                "Syncs of journals, each of which makes everything durable that was written before it.",
                r => One(r.Source.Broker.Syncs)
            ),
            new(
                "lightq.sync.time",
                FigureKind.Counter,
                "s",
                "Time that these syncs took.",
                r => One(r.Source.Broker.SyncTime.TotalSeconds)
            ),
            new(
                "lightq.scrubbed",
                FigureKind.Counter,
                "By",
                "Bytes of durable topics that were read again to find damage.",
                r => One(r.Source.Broker.ScrubbedBytes)
            ),
            new(
                "lightq.scrub.passes",
                FigureKind.Counter,
                "{pass}",
                "Complete passes of that over everything.",
                r => One(r.Source.Broker.ScrubPasses)
            ),
        ];
}
