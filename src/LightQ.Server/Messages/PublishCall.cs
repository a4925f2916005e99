using System.Runtime.ExceptionServices;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Limits;
using LightQ.Server.Security;

namespace LightQ.Server.Messages;

/// <summary>A PublishStream call: one loop takes requests, the other answers them in their order.</summary>
internal sealed class PublishCall(
    LightQBroker broker,
    CallAccess access,
    int maxMessageBytes,
    TimeProvider time,
    uint connectionId,
    ServerCallContext context,
    BodyAccount held,
    DateTimeOffset opened
) : MessageCall(connectionId, context, opened)
{
    private PublishSession? _session;
    private Exception? _failure;
    private bool _isRead;
    private bool _isStopping;

    public override int Producers => _session?.Producers ?? 0;

    public override int Subscriptions => 0;

    public override (int BusyProducers, long Held) CountUnderWay() => (_session is { IsBusy: true } ? 1 : 0, 0);

    /// <summary>What the broker has not read yet it does not take any more; what it has taken it answers.</summary>
    public override void BeginStop(TimeSpan timeLeft)
    {
        Volatile.Write(ref _isStopping, true);
        StopReading();
    }

    public override void EndStop()
    {
        // The call reads no more: what is left is the acks, and the client's reading of them.
    }

    public override void Review() => _session?.Review(access);

    public async Task RunAsync(
        IAsyncStreamReader<PublishStreamRequest> reader,
        IServerStreamWriter<PublishStreamResponse> responses
    )
    {
        OpenProducer open =
            await NextAsync(reader).ConfigureAwait(false) && reader.Current.Open is { } asked
                ? asked
                : throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    "The first request has no open; it opens the producer."
                );
        using PublishSession session = _session = await broker
            .Decisions.DecideAsync(
                () =>
                {
                    access.Demand(open.Topic);
                    return new ValueTask<PublishSession>(
                        PublishSession.OpenAsync(
                            broker,
                            ConnectionId,
                            access.Principal.Number,
                            time,
                            open,
                            maxMessageBytes,
                            Context.CancellationToken,
                            held
                        )
                    );
                },
                Context.CancellationToken
            )
            .ConfigureAwait(false);
        Review(); // What changed meanwhile has not met it.
        await responses
            .WriteAsync(new PublishStreamResponse { Opened = Describe(session, open) })
            .ConfigureAwait(false);
        using var ending = CancellationTokenSource.CreateLinkedTokenSource(Context.CancellationToken);
        Task reading = Task.Run(() => ReadAsync(reader, session, ending.Token), CancellationToken.None);
        try
        {
            await AnswerAsync(session, responses).ConfigureAwait(false);
        }
        finally
        {
            await ending.CancelAsync().ConfigureAwait(false);
            StopReading();
            await reading.ConfigureAwait(false);
        }
    }

    private static ProducerOpened Describe(PublishSession session, OpenProducer open) =>
        new()
        {
            Partitions = session.Opened.PartitionCount,
            AckLevel = (DurabilityLevel)session.Opened.AckLevel,
            MaxMessageBytes = (ulong)session.MaxMessageBytes,
            NextSequence = open.ProducerName.Length != 0 ? session.Opened.NextSequence : 0,
        };

    private async Task AnswerAsync(PublishSession session, IServerStreamWriter<PublishStreamResponse> responses)
    {
        while (true)
        {
            bool isRead = Volatile.Read(ref _isRead);
            bool isLeft = session.TryTakeAnswered(out PendingPublish? done);
            if (done is not null)
            {
                await responses.WriteAsync(done.Response).ConfigureAwait(false);
                session.Answered(done);
            }
            else if (isRead && !isLeft)
            {
                break;
            }
            else
            {
                await session.Progress.WaitAsync(Context.CancellationToken).ConfigureAwait(false);
            }
        }
        if (_failure is not null and not OperationCanceledException)
            ExceptionDispatchInfo.Throw(_failure);
        Context.CancellationToken.ThrowIfCancellationRequested();
        if (_isStopping)
        {
            throw new BrokerException(
                ErrorCode.ShuttingDown,
                "The broker is stopping; what it has acknowledged is stored, and nothing else."
            );
        }
    }

    /// <summary>Takes requests until the client has no more or one is rejected.</summary>
    private async Task ReadAsync(
        IAsyncStreamReader<PublishStreamRequest> reader,
        PublishSession session,
        CancellationToken cancellationToken
    )
    {
        try
        {
            await TakeAllAsync(reader, session, cancellationToken).ConfigureAwait(false);
        }
#pragma warning disable CA1031 // The answering loop throws it.
        catch (Exception e)
#pragma warning restore CA1031
        {
            _failure = e;
        }
        try
        {
            // What came before the end or the refusal.
            await session.SendAsync(cancellationToken).ConfigureAwait(false);
        }
        catch (Exception e) when (e is BrokerException or OperationCanceledException)
        {
            _failure ??= e;
        }
        finally
        {
            Volatile.Write(ref _isRead, true);
            session.Progress.Set();
        }
    }

    private async ValueTask TakeAllAsync(
        IAsyncStreamReader<PublishStreamRequest> reader,
        PublishSession session,
        CancellationToken cancellationToken
    )
    {
        if (reader.Current.Messages.Count != 0)
            await TakeAsync(reader.Current, session, cancellationToken).ConfigureAwait(false);
        while (!_isStopping && await NextOrSendAsync(reader, session, cancellationToken).ConfigureAwait(false))
        {
            if (reader.Current.Open is not null)
            {
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    "A request behind the first has an open; one call has one producer."
                );
            }

            await TakeAsync(reader.Current, session, cancellationToken).ConfigureAwait(false);
        }
    }

    private static async ValueTask TakeAsync(
        PublishStreamRequest request,
        PublishSession session,
        CancellationToken cancellationToken
    ) =>
        await session
            .AddAsync(
                request.Messages,
                request.HasFirstSequence ? request.FirstSequence : null,
                refusesAlone: true,
                cancellationToken
            )
            .ConfigureAwait(false);

    /// <summary>Reads the next request; when it is not there yet, what was collected goes on its way.</summary>
    private async ValueTask<bool> NextOrSendAsync(
        IAsyncStreamReader<PublishStreamRequest> reader,
        PublishSession session,
        CancellationToken cancellationToken
    )
    {
        Task<bool> pending = NextAsync(reader);
        if (pending.IsCompleted)
            return await pending.ConfigureAwait(false);
        try
        {
            await session.SendAsync(cancellationToken).ConfigureAwait(false);
        }
        catch
        {
            StopReading();
            await ((Task)pending).ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
            throw;
        }
        return await pending.ConfigureAwait(false);
    }
}
