using LightQ.Broker;
using LightQ.Broker.Producers;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Frames;
using LightQ.Server.Connections;
using LightQ.Server.Limits;
using LightQ.Server.Security;

namespace LightQ.Server.DataPlane;

/// <summary>Opens the streams of a connection that is welcomed.</summary>
/// <remarks>
/// What needs neither the disk nor the catalog is opened at once. Everything else is opened by the pool, while the
/// connection's reading waits; it is dropped when the connection has ended meanwhile
/// (docs/design/cluster.md, What outlives its asker).
/// </remarks>
internal sealed class StreamOpener(
    LightQBroker broker,
    AccessControl access,
    ServerLimits limits,
    SessionAnswers answers,
    ConnectionOutput output,
    ConnectionStreams streams,
    Principal principal,
    ulong features
)
{
    private bool HasCluster => (features & ProtocolFeatures.Cluster) != 0;

    private bool RefusesAlone => (features & ProtocolFeatures.RefusedAlone) != 0;

    /// <summary>Opens a producer stream.</summary>
    /// <returns>Work that has to be awaited before the next frame; null when it is done.</returns>
    /// <exception cref="ProtocolException">The frame is not one of this connection.</exception>
    public Task? OpenProducer(OpenProducerFrame request, uint id, uint tag)
    {
        if (request.AckLevel == Durability.Replicated && !HasCluster)
        {
            throw new ProtocolException(
                ErrorCode.MalformedFrame,
                "The ack level 'replicated' is not one of this connection: it did not ask for the feature 'cluster', "
                    + "or the broker has no cluster."
            );
        }

        if (!CanOpen(id, tag))
            return null;
        if (!broker.IsQuick(request) || RefusalOf(request) is not null)
            return Task.Run(() => OpenProducerAsync(request, id, tag));
        try
        {
            ProducerStream producer = broker.OpenProducer(
                output,
                id,
                request,
                out ProducerOpenedFrame opened,
                RefusesAlone
            );
            OnOpened(producer, opened, tag);
        }
        catch (BrokerException e)
        {
            Refuse(e, id, tag);
        }
        return null;
    }

    /// <summary>Opens a subscription.</summary>
    /// <returns>Work that has to be awaited before the next frame; null when it is done.</returns>
    public Task? Subscribe(SubscribeFrame request, uint id, uint tag)
    {
        if (!CanOpen(id, tag))
            return null;
        if (!broker.IsQuick(request) || RefusalOf(request) is not null)
            return Task.Run(() => SubscribeAsync(request, id, tag));
        try
        {
            Subscription subscription = broker.Subscribe(output, id, request, out SubscribedFrame subscribed);
            OnOpened(subscription, subscribed, tag);
        }
        catch (BrokerException e)
        {
            Refuse(e, id, tag);
        }
        return null;
    }

    /// <summary>Answers that there is no such stream.</summary>
    public void Refuse(ErrorCode code, string reason, uint id, uint tag)
    {
        streams.Refuse(id);
        answers.Answer(new ClosedFrame(code, reason), id, tag);
    }

    private async Task OpenProducerAsync(OpenProducerFrame request, uint id, uint tag)
    {
        try
        {
            (ProducerStream producer, ProducerOpenedFrame opened) = await broker
                .Decisions.DecideAsync(
                    () =>
                        RefusalOf(request) is { } refusal
                            ? throw refusal
                            : broker.OpenProducerAsync(output, id, request, RefusesAlone),
                    CancellationToken.None
                )
                .ConfigureAwait(false);
            OnOpened(producer, opened, tag);
        }
        catch (BrokerException e)
        {
            Refuse(e, id, tag);
        }
    }

    private async Task SubscribeAsync(SubscribeFrame request, uint id, uint tag)
    {
        try
        {
            (Subscription subscription, SubscribedFrame subscribed) = await broker
                .Decisions.DecideAsync(
                    () =>
                        RefusalOf(request) is { } refusal
                            ? throw refusal
                            : ValueTask.FromResult(
                                (broker.Subscribe(output, id, request, out SubscribedFrame answer), answer)
                            ),
                    CancellationToken.None
                )
                .ConfigureAwait(false);
            OnOpened(subscription, subscribed, tag);
        }
        catch (BrokerException e)
        {
            Refuse(e, id, tag);
        }
    }

    private void OnOpened(ProducerStream producer, in ProducerOpenedFrame opened, uint tag)
    {
        streams.Add(producer);
        answers.Answer(opened, producer.Id, tag);
        access.Review(principal, producer); // What changed while it was opened has not met it.
    }

    private void OnOpened(Subscription subscription, in SubscribedFrame subscribed, uint tag)
    {
        streams.Add(subscription);
        answers.Answer(subscribed, subscription.Id, tag);
        subscription.Opened();
        access.Review(principal, subscription);
    }

    /// <summary>Why the connection may not open it; null when it may.</summary>
    private BrokerException? RefusalOf(OpenProducerFrame request)
    {
        if (access.Refusal(principal, Right.Publish, request.Topic) is { } refusal)
            return refusal;
        return !HasCluster && broker.TryGetTopic(request.Topic, out Topic? topic) && topic.Settings.Replicas != 0
            ? new BrokerException(
                ErrorCode.NotSupported,
                $"The topic '{topic.Name}' acknowledges at 'replicated', which this connection does not know: it did "
                    + "not ask for the feature 'cluster'."
            )
            : null;
    }

    private BrokerException? RefusalOf(SubscribeFrame request) =>
        access.Refusal(principal, Right.Consume, request.Topic);

    private bool CanOpen(uint id, uint tag)
    {
        if (id == 0 || streams.Find(id) is not null)
        {
            answers.Answer(
                new ClosedFrame(
                    ErrorCode.InvalidStream,
                    id == 0 ? "Stream 0 is the connection itself." : $"Stream {id} is open already."
                ),
                id,
                tag
            );
            return false;
        }
        int most = limits.DataPlane.MaxStreams;
        if (streams.Count < most)
            return true;
        Refuse(
            ErrorCode.ResourceExhausted,
            limits.DataPlaneRefusals.Refuse(
                nameof(DataPlaneOptions.MaxStreams),
                most,
                "The connection has as many streams"
            ),
            id,
            tag
        );
        return false;
    }

    private void Refuse(BrokerException reason, uint id, uint tag)
    {
        streams.Refuse(id);
        ClosedFrame closed = reason switch
        {
            NotLeaderException elsewhere => new ClosedFrame(
                elsewhere.Code,
                elsewhere.Message,
                elsewhere.Epoch,
                elsewhere.Address
            ),
            OvertakenException overtaken => new ClosedFrame(
                overtaken.Code,
                overtaken.Message,
                Number: overtaken.Number
            ),
            _ => new ClosedFrame(reason.Code, reason.Message),
        };
        answers.Answer(closed, id, tag);
    }
}
