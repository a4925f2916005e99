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

    private (ulong Id, uint Epoch) NextEpoch(Topic topic, OpenProducerFrame request)
    {
        int most = options().MaxNamedProducersPerTopic;
        (ulong Id, uint Epoch) Next() =>
            catalog.NextEpoch(topic.Id, request.ProducerName, request.Instance, request.IsReturning, most);

        (ulong Id, uint Epoch) given = Next();
        // Of a topic whose partitions other nodes own, this one does not know whom they remember.
        if (given.Id == 0 && !(catalog.IsShared && topic.IsIncomplete))
        {
            catalog.ForgetProducers(topic.Id, topic.RememberedProducers());
            given = Next();
        }
        return given.Id != 0
            ? given
            : throw refusals.Exhausted(
                nameof(BrokerOptions.MaxNamedProducersPerTopic),
                most,
                $"The topic '{topic.Name}' has as many named producers"
            );
    }
}
