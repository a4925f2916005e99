using LightQ.Broker.Catalog;
using LightQ.Broker.Topics;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Broker.Producers;

/// <summary>Which named producer has which id and epoch. Thread-safe.</summary>
internal sealed class ProducerNames(TopicCatalog catalog, Func<BrokerOptions> options, LimitRefusals refusals)
{
    private readonly Lock _lock = new();

    /// <summary>Gives a producer its id and epoch, and finds what the partition remembers of it.</summary>
    /// <returns>Zeros for one without a name.</returns>
    /// <exception cref="BrokerException">The name is none, or there is no room for another.</exception>
    public (ulong Id, uint Epoch, ProducerState? State) Attach(Partition partition, in OpenProducerFrame request)
    {
        string name = request.ProducerName;
        if (name.Length == 0)
            return (0, 0, null);
        if (!TopicName.IsValid(name))
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"'{TopicName.Printable(name)}' is not a producer name; allowed: {TopicName.Rule}."
            );
        }

        lock (_lock) // So that a name is not forgotten between its epoch and its partition.
        {
            (ulong id, uint epoch) = NextEpoch(partition.Topic, request);
            lock (partition.AppendLock)
                return (id, epoch, partition.NamedProducers.Attach(id, epoch));
        }
    }

    private (ulong Id, uint Epoch) NextEpoch(Topic topic, in OpenProducerFrame request)
    {
        int most = options().MaxNamedProducersPerTopic;
        if (!catalog.HasRoom(topic.Id, request.ProducerName, most))
        {
            catalog.ForgetProducers(topic.Id, topic.RememberedProducers());
            if (!catalog.HasRoom(topic.Id, request.ProducerName, most))
            {
                throw refusals.Exhausted(
                    nameof(BrokerOptions.MaxNamedProducersPerTopic),
                    most,
                    $"The topic '{topic.Name}' has as many named producers"
                );
            }
        }
        return catalog.NextEpoch(topic.Id, request.ProducerName, request.Instance, request.IsReturning);
    }
}
