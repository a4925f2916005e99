using LightQ.Broker;
using LightQ.Protocol;
using LightQ.Protocol.Control;
using LightQ.Protocol.Frames;
using LightQ.Server.Security;

namespace LightQ.Server.Messages;

/// <summary>Publishes what one request holds, here.</summary>
/// <param name="broker">The engine.</param>
/// <param name="maxMessageBytes">The largest message of any topic.</param>
/// <param name="time">The clock.</param>
internal sealed class PublishOnce(LightQBroker broker, int maxMessageBytes, TimeProvider time)
{
    /// <summary>The largest message of any topic.</summary>
    public int MaxMessageBytes => maxMessageBytes;

    /// <summary>The largest message that fits into a frame of the data plane.</summary>
    public static int MostBytes(DataPlaneOptions limits) =>
        limits.MaxFrameBytes - FrameHeader.Size - ProtocolLimits.BatchOverheadBytes;

    /// <summary>Publishes; completes when all messages are as safe as was asked for.</summary>
    /// <param name="request">What.</param>
    /// <param name="user">For whom.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="BrokerException">They may not be published.</exception>
    public async Task<PublishResponse> RunAsync(
        PublishRequest request,
        Principal user,
        CancellationToken cancellationToken
    )
    {
        var open = new OpenProducer { Topic = request.Topic, AckLevel = request.AckLevel };
        if (request.HasPartition)
            open.Partition = request.Partition;
        using PublishSession session = await PublishSession
            .OpenAsync(broker, connectionId: 0, user.Number, time, open, maxMessageBytes, cancellationToken)
            .ConfigureAwait(false);
        await session.AddAsync(request.Messages, null, refusesAlone: false, cancellationToken).ConfigureAwait(false);
        await session.SendAsync(cancellationToken).ConfigureAwait(false);
        PendingPublish? done;
        while (session.TryTakeAnswered(out done) && done is null)
            await session.Progress.WaitAsync(cancellationToken).ConfigureAwait(false);
        return new PublishResponse
        {
            Positions = { done!.Ack.Positions },
            Durability = (DurabilityLevel)session.Opened.AckLevel,
        };
    }
}
