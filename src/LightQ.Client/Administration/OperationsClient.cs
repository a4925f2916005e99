using System.Runtime.CompilerServices;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Protocol.Control;

namespace LightQ.Client.Administration;

/// <summary>
/// What is done to a broker as a whole, over the control plane. Every call needs the right admin. Thread-safe.
/// </summary>
public sealed class OperationsClient
{
    private readonly Protocol.Control.Operations.OperationsClient _calls;
    private readonly Protocol.Control.Backups.BackupsClient _backups;

    internal OperationsClient(ControlChannel channel)
    {
        _calls = new Protocol.Control.Operations.OperationsClient(channel.Calls);
        _backups = new Protocol.Control.Backups.BackupsClient(channel.Calls);
    }

    /// <summary>
    /// Stops the broker as SIGTERM does. Returns when it has begun to; a drain that is under way is cut short.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">The right is missing, or the broker cannot be reached.</exception>
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
    /// Lets clients finish what is under way and then stops the broker: nothing new is opened, clients are told to go,
    /// what producers have sent is acknowledged, and members of groups may settle what they hold.
    /// </summary>
    /// <param name="timeout">How long clients have, 0 to 10 minutes; null means 30 s.</param>
    /// <param name="cancellationToken">Ends the enumeration; the broker drains and stops all the same.</param>
    /// <returns>
    /// What is under way: at once, whenever that has changed, and last when the broker begins to stop.
    /// </returns>
    /// <exception cref="LightQException">
    /// The right is missing, the time is not allowed, or the broker cannot be reached.
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
    /// Says that users, rights, tokens and topics were looked through after a repair that has lost changes of the
    /// catalog: until then nobody but admin may log in. Everybody may again when this returns.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <returns>Whether there was anything to confirm.</returns>
    /// <exception cref="LightQException">The right is missing, or the broker cannot be reached.</exception>
    public async Task<bool> ConfirmCatalogAsync(CancellationToken cancellationToken = default) =>
        (
            await _calls
                .ConfirmCatalogAsync(new ConfirmCatalogRequest(), cancellationToken: cancellationToken)
                .ConfigureAwait(false)
        ).Confirmed;

    /// <summary>
    /// Has the broker read its configuration file and certificates again. What can be is in force when this returns;
    /// the rest needs a restart.
    /// </summary>
    /// <param name="cancellationToken">Ends the wait.</param>
    /// <exception cref="LightQException">
    /// The right is missing, the broker has no configuration file to read (<see cref="ErrorCode.NotSupported"/>), or it
    /// cannot be reached.
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
    /// Takes a copy of everything that the broker keeps as of now, while it works: the messages of durable topics, the
    /// groups' positions, topics, users, rights and tokens. Not in it are the messages of transient topics, the admin's
    /// password, certificates and the configuration. <c>lightq backup</c> writes it into a folder that can be restored.
    /// </summary>
    /// <param name="maxBytesPerSecond">
    /// How fast it is sent at most, in bytes a second; 0 for as fast as it is taken.
    /// </param>
    /// <param name="skipFailedTopics">
    /// Whether topics of which a partition could not be opened, because their files are damaged or missing, are left
    /// out; otherwise they are an error.
    /// </param>
    /// <param name="cancellationToken">Ends the enumeration.</param>
    /// <returns>
    /// The parts in their order. An enumeration that has not come to a <see cref="BackupEnd"/> is no backup.
    /// </returns>
    /// <exception cref="ArgumentOutOfRangeException">From the enumeration: the rate is negative.</exception>
    /// <exception cref="LightQException">
    /// From the enumeration: the right is missing, a topic could not be opened (<see cref="ErrorCode.TopicFailed"/>),
    /// the broker cannot be reached, or it sent what is no part of a backup.
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
