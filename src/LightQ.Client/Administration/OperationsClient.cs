using System.Runtime.CompilerServices;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>
/// Operates a broker as a whole, over the control plane. Every call needs the right Admin. Thread-safe.
/// </summary>
public sealed class OperationsClient
{
    private readonly Protocol.Control.Operations.OperationsClient _calls;
    private readonly Protocol.Control.Backups.BackupsClient _backups;

    internal OperationsClient(ControlChannel channel)
    {
        _calls = new Protocol.Control.Operations.OperationsClient(channel.FirstCalls);
        _backups = new Protocol.Control.Backups.BackupsClient(channel.FirstCalls);
    }

    /// <summary>
    /// Stops the broker as SIGTERM does. Returns when the broker has begun to stop. A drain that is under way is cut
    /// short.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">A right is missing, or the broker cannot be reached.</exception>
    public async Task StopAsync(CancellationToken cancellationToken = default)
    {
        using AsyncServerStreamingCall<Protocol.Control.StopProgress> call = _calls.Stop(
            new StopRequest(),
            cancellationToken: cancellationToken
        );
        await foreach (
            Protocol.Control.StopProgress _ in call.ResponseStream.ReadAllAsync(cancellationToken).ConfigureAwait(false)
        )
        {
            // It tells of a drain, and there is none.
        }
    }

    /// <summary>
    /// Lets clients finish what is under way, and then stops the broker. While it drains, the broker opens nothing new
    /// and tells clients to leave. It acknowledges what producers have sent, and members of groups may settle the
    /// messages they hold.
    /// </summary>
    /// <param name="timeout">How long clients have, 0 to 10 minutes; null means 30 s.</param>
    /// <param name="cancellationToken">Ends the enumeration; the broker drains and stops nevertheless.</param>
    /// <returns>What is under way: at once, whenever it has changed, and last when the broker begins to stop.</returns>
    /// <exception cref="LightQException">
    /// A right is missing, the time is not allowed, or the broker cannot be reached.
    /// </exception>
    public async IAsyncEnumerable<StopProgress> DrainAndStopAsync(
        TimeSpan? timeout = null,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        var request = new StopRequest { Drain = true, Timeout = timeout?.ToDuration() };
        using AsyncServerStreamingCall<Protocol.Control.StopProgress> call = _calls.Stop(
            request,
            cancellationToken: cancellationToken
        );
        await foreach (
            Protocol.Control.StopProgress progress in call
                .ResponseStream.ReadAllAsync(cancellationToken)
                .ConfigureAwait(false)
        )
        {
            yield return new StopProgress(
                (int)progress.Connections,
                (int)progress.BusyProducers,
                (long)progress.HeldMessages,
                progress.TimeLeft?.ToTimeSpan() ?? TimeSpan.Zero
            );
        }
    }

    /// <summary>
    /// Confirms that an administrator has checked users, rights, tokens and topics after a repair that lost
    /// changes of the catalog. Until then only admin may log in. When this returns, everyone may log in again.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>Whether there was anything to confirm.</returns>
    /// <exception cref="LightQException">A right is missing, or the broker cannot be reached.</exception>
    public async Task<bool> ConfirmCatalogAsync(CancellationToken cancellationToken = default) =>
        (
            await _calls
                .ConfirmCatalogAsync(new ConfirmCatalogRequest(), cancellationToken: cancellationToken)
                .ConfigureAwait(false)
        ).Confirmed;

    /// <summary>
    /// Makes the broker read its configuration file and certificates again. When this returns, the settings that a
    /// reload can change are in force; the others need a restart.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// A right is missing, the broker has no configuration file to read (<see cref="ErrorCode.NotSupported"/>),
    /// or it cannot be reached.
    /// </exception>
    public async Task<ReloadResult> ReloadAsync(CancellationToken cancellationToken = default)
    {
        ReloadResponse response = await _calls
            .ReloadAsync(new ReloadRequest(), cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return new ReloadResult(
            [.. response.Settings.Select(s => new ReloadedSetting(s.Key, s.From, s.To, s.Applied))],
            response.Refusal.Length == 0 ? null : response.Refusal,
            response.Certificate == CertificateReload.None ? null : response.Certificate == CertificateReload.Applied,
            response.CertificateProblem.Length == 0 ? null : response.CertificateProblem
        );
    }

    /// <summary>
    /// Lists every setting of the broker, with the value in force and where it comes from. In a cluster each node has
    /// its own: this asks the first that the options name.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">A right is missing, or the broker cannot be reached.</exception>
    public async Task<BrokerSettings> ListSettingsAsync(CancellationToken cancellationToken = default)
    {
        ListSettingsResponse response = await _calls
            .ListSettingsAsync(new ListSettingsRequest(), cancellationToken: cancellationToken)
            .ConfigureAwait(false);
        return new BrokerSettings(
            response.Node,
            [
                .. response.Settings.Select(s => new SettingInfo(
                    s.Key,
                    s.Value,
                    (SettingSource)s.Source,
                    s.SourceName,
                    s.Live,
                    s.Secret,
                    s.Description
                )),
            ]
        );
    }

    /// <summary>
    /// Reads a page of the broker's audit log: newest first, or oldest first behind a line. In a cluster each node has
    /// its own: this asks the first that the options name. A call reads a few megabytes of the log at most, so a page
    /// may have few events, or none, and not be the last.
    /// </summary>
    /// <param name="query">What is asked for; null for the newest events.</param>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// A right is missing, the broker keeps no audit log (<see cref="ErrorCode.NotSupported"/>), there is no such event
    /// (<see cref="ErrorCode.InvalidArgument"/>), or the broker cannot be reached.
    /// </exception>
    public async Task<AuditEventPage> ListAuditEventsAsync(
        AuditEventQuery? query = null,
        CancellationToken cancellationToken = default
    ) =>
        AuditMapping.ToPage(
            await _calls
                .ListAuditEventsAsync(
                    AuditMapping.ToProto(query ?? new AuditEventQuery()),
                    cancellationToken: cancellationToken
                )
                .ConfigureAwait(false)
        );

    /// <summary>
    /// Takes a copy of everything that the broker holds at this moment, while it works: the messages of durable topics,
    /// the groups' positions, topics, users, rights and tokens. The copy does not contain the messages of
    /// transient topics, the admin's password, certificates and the configuration. <c>lightq backup</c> writes it into
    /// a folder that can be restored.
    /// </summary>
    /// <param name="maxBytesPerSecond">The highest rate in bytes a second; 0 for as fast as the caller reads.</param>
    /// <param name="skipFailedTopics">
    /// Whether to leave out topics with a partition that the broker could not open, because its files are damaged or
    /// missing. Otherwise such a topic is an error.
    /// </param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <returns>
    /// The parts in their order. An enumeration that ends before a <see cref="BackupEnd"/> is not a backup.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">From the enumeration: the rate is negative.</exception>
    /// <exception cref="LightQException">
    /// From the enumeration: a right is missing, a topic could not be opened
    /// (<see cref="ErrorCode.TopicFailed"/>), the broker cannot be reached, or it sent something that is not part of a
    /// backup.
    /// </exception>
    public async IAsyncEnumerable<BackupPart> BackupAsync(
        long maxBytesPerSecond = 0,
        bool skipFailedTopics = false,
        [EnumeratorCancellation] CancellationToken cancellationToken = default
    )
    {
        ArgumentOutOfRangeException.ThrowIfNegative(maxBytesPerSecond);
        var request = new CreateBackupRequest
        {
            MaxBytesPerSecond = (ulong)maxBytesPerSecond,
            SkipFailedTopics = skipFailedTopics,
        };
        using AsyncServerStreamingCall<CreateBackupResponse> call = _backups.CreateBackup(
            request,
            cancellationToken: cancellationToken
        );
        await foreach (
            CreateBackupResponse response in call.ResponseStream.ReadAllAsync(cancellationToken).ConfigureAwait(false)
        )
        {
            yield return BackupMapping.ToPart(response);
        }
    }
}
