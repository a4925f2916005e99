using Google.Protobuf;
using Google.Protobuf.WellKnownTypes;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.Backups;
using LightQ.Protocol.Control;
using LightQ.Server.Security;
using LightQ.Storage.Backups;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.Backups</c>.</summary>
internal sealed class BackupsService(
    LightQBroker broker,
    AccessControl access,
    ISecurityEvents events,
    TimeProvider time,
    ILogger logger
) : Protocol.Control.Backups.BackupsBase
{
    private readonly AccessControl _access = access;
    private readonly TimeProvider _time = time;

    public override async Task CreateBackup(
        CreateBackupRequest request,
        IServerStreamWriter<CreateBackupResponse> responses,
        ServerCallContext context
    )
    {
        long began = _time.GetTimestamp();
        Principal principal = CallPrincipal.Of(context);
        string caller = principal.Name;
        DemandEverything(principal);
        BrokerBackup backup = await Task.Run(() =>
                broker.BeginBackupAsync(request.SkipFailedTopics, context.CancellationToken)
            )
            .ConfigureAwait(false);
        ServerLog.BackupBegan(logger, caller, backup.Bytes);
        await events
            .RaiseAsync(
                new SecurityEvent(
                    SecurityAction.BackupStarted,
                    principal.ToString(),
                    Origin.Control(context),
                    Detail: $"about {backup.Bytes} bytes"
                )
            )
            .ConfigureAwait(false);
        var begin = new BackupBegin
        {
            BrokerId = broker.Id.ToString("N"),
            Version = ServerVersion.Text,
            Time = backup.Time.ToTimestamp(),
            EstimatedBytes = (ulong)backup.Bytes,
        };
        await responses.WriteAsync(new CreateBackupResponse { Begin = begin }).ConfigureAwait(false);
        var sink = new ResponseSink(this, principal, responses, request.MaxBytesPerSecond);
        try
        {
            IReadOnlyList<Storage.Backups.BackupTopic> topics = await backup
                .CopyAsync(broker.Id, sink, context.CancellationToken)
                .ConfigureAwait(false);
            var end = new BackupEnd
            {
                SkippedTopics = { backup.SkippedTopics.Select(t => t.Name).Order(StringComparer.Ordinal) },
            };
            end.Topics.AddRange(
                topics.Select(t => new Protocol.Control.BackupTopic
                {
                    Name = t.Name,
                    Id = t.Id,
                    Partitions = (uint)t.Partitions,
                    Durable = t.Durable,
                    Replicas = (uint)t.Replicas,
                })
            );
            await responses.WriteAsync(new CreateBackupResponse { End = end }).ConfigureAwait(false);
            ServerLog.BackupSent(
                logger,
                caller,
                sink.Bytes,
                topics.Count,
                (long)_time.GetElapsedTime(began).TotalMilliseconds
            );
        }
        catch (OperationCanceledException) when (context.CancellationToken.IsCancellationRequested)
        {
            ServerLog.BackupGivenUp(logger, caller, sink.Bytes);
            throw;
        }
    }

    /// <summary>
    /// A topic with a user of its own is closed to anonymous callers. Otherwise they may do everything on an open
    /// broker.
    /// </summary>
    private void DemandEverything(Principal principal)
    {
        _access.DemandAdmin(principal);
        if (_access.IsLimitedToAdmin) // Restored, it would be open to whoever is back.
        {
            throw new BrokerException(
                ErrorCode.PermissionDenied,
                "The catalog was repaired and is not confirmed: no backup is made of it before 'lightq server "
                    + "confirm-catalog'."
            );
        }

        foreach (Broker.Topics.Topic topic in broker.Topics)
            _access.Demand(principal, Broker.Users.Right.Consume, topic.Name);
    }

    /// <summary>Sends the files as responses, no faster than was asked for, while the caller may have them.</summary>
    private sealed class ResponseSink(
        BackupsService service,
        Principal principal,
        IServerStreamWriter<CreateBackupResponse> responses,
        ulong bytesPerSecond
    ) : IBackupSink
    {
        private readonly long _began = service._time.GetTimestamp();
        private Task _changed = service._access.Changed;

        public long Bytes { get; private set; }

        public ValueTask BeginFileAsync(string path, long length, CancellationToken cancellationToken) =>
            SendAsync(
                new CreateBackupResponse
                {
                    File = new BackupFileBegin { Path = path, Length = (ulong)length },
                }
            );

        public async ValueTask WriteAsync(ReadOnlyMemory<byte> bytes, CancellationToken cancellationToken)
        {
            await SendAsync(new CreateBackupResponse { Data = UnsafeByteOperations.UnsafeWrap(bytes) })
                .ConfigureAwait(false); // Serialized when it returns.
            Bytes += bytes.Length;
            if (bytesPerSecond == 0)
                return;
            TimeSpan ahead =
                TimeSpan.FromSeconds((double)Bytes / bytesPerSecond) - service._time.GetElapsedTime(_began);
            if (ahead > TimeSpan.Zero)
                await Task.Delay(ahead, service._time, cancellationToken).ConfigureAwait(false);
        }

        private ValueTask SendAsync(CreateBackupResponse response)
        {
            if (_changed.IsCompleted)
            {
                _changed = service._access.Changed;
                service.DemandEverything(principal);
            }
            return new ValueTask(responses.WriteAsync(response));
        }
    }
}
