using LightQ.Broker.Catalog;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Protocol.Frames;

namespace LightQ.Broker.Producers;

/// <summary>A named producer's stream that is being opened.</summary>
internal sealed class ProducerOpening(
    Partition partition,
    IStreamOwner owner,
    in OpenProducerFrame request,
    BrokerOptions options
)
{
    private readonly TaskCompletionSource<ProducerState> _done = new(
        TaskCreationOptions.RunContinuationsAsynchronously
    );

    /// <summary>The partition.</summary>
    public Partition Partition => partition;

    /// <summary>What it wants of the catalog.</summary>
    public NameRequest Name { get; } =
        new()
        {
            Topic = partition.Topic.Id,
            Name = request.ProducerName,
            User = owner.User,
            IsShared = partition.Topic.Settings.SharedNames,
            Instance = request.Instance,
            Number = request.Number,
            IsReturning = request.IsReturning,
            MostNames = options.MaxNamedProducersPerTopic,
            SharePercent = options.MaxSharePercent,
            HasEnded = () => owner.HasEnded,
        };

    /// <summary>What the partition remembers of it; its stream is counted there.</summary>
    public Task<ProducerState> Done => _done.Task;

    /// <summary>The partition knows it now, unless its client has gone or has opened it again.</summary>
    public void Attach()
    {
        ProducerState? state;
        lock (partition.AppendLock)
        {
            state = owner.HasEnded
                ? null
                : partition.NamedProducers.Attach(Name.Id, Name.Epoch, Name.Instance, Name.Number);
        }
        if (state is not null)
            _done.SetResult(state);
        else
            Fail(new BrokerException(ErrorCode.Closed, "The producer has opened this stream again, or is gone."));
    }

    /// <summary>It comes to nothing.</summary>
    public void Fail(Exception reason) => _done.SetException(reason);
}
