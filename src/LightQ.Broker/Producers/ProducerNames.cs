using System.Diagnostics;
using LightQ.Broker.Catalog;
using LightQ.Broker.Streams;
using LightQ.Broker.Topics;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Protocol.Frames;

namespace LightQ.Broker.Producers;

/// <summary>Which named producer has which id and epoch. Thread-safe.</summary>
/// <remarks>
/// Where the catalog is a cluster's, openings wait in a queue, and those that wait together get one entry of it.
/// Nothing blocks: the answer of the engine needs threads of the pool, too.
/// </remarks>
internal sealed class ProducerNames(TopicCatalog catalog, Func<BrokerOptions> options, LimitRefusals refusals)
{
    /// <summary>Their records take far less than the smallest entry of an engine.</summary>
    private const int MostAtOnce = 512;

    private readonly Lock _lock = new();
    private readonly Queue<ProducerOpening> _waiting = [];
    private bool _isServing;

    /// <summary>Gives a producer its id and epoch, and finds what the partition remembers of it.</summary>
    /// <returns>Zeros for one without a name.</returns>
    /// <exception cref="BrokerException">The name is none, or there is no room for another.</exception>
    public async ValueTask<(ulong Id, uint Epoch, ProducerState? State)> AttachAsync(
        Partition partition,
        IStreamOwner owner,
        OpenProducerFrame request
    )
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

        var opening = new ProducerOpening(partition, owner, request, options());
        if (catalog.IsShared)
            Enqueue(opening);
        else
            ServeAtOnce(opening);
        ProducerState state = await opening.Done.ConfigureAwait(false);
        return (opening.Name.Id, opening.Name.Epoch, state);
    }

    private void ServeAtOnce(ProducerOpening opening)
    {
        lock (_lock) // So that a name is not forgotten between its epoch and its partition.
        {
            Task served = ServeAsync([opening]);
            Debug.Assert(served.IsCompleted, "A broker's own catalog answers at once.");
        }
    }

    private void Enqueue(ProducerOpening opening)
    {
        lock (_lock)
        {
            _waiting.Enqueue(opening);
            if (_isServing)
                return;
            _isServing = true;
        }
        _ = ServeAllAsync();
    }

    private async Task ServeAllAsync()
    {
        while (true)
        {
            List<ProducerOpening> some = [];
            lock (_lock)
            {
                while (some.Count < MostAtOnce && _waiting.TryDequeue(out ProducerOpening? opening))
                    some.Add(opening);
                if (some.Count == 0)
                {
                    _isServing = false;
                    return;
                }
            }
            await ServeAsync(some).ConfigureAwait(false);
        }
    }

    /// <summary>
    /// Serves openings to their end, one call after the other: so a name is not forgotten between its epoch and its
    /// partition.
    /// </summary>
    private async Task ServeAsync(IReadOnlyList<ProducerOpening> openings)
    {
        try
        {
            await catalog.NextEpochsAsync([.. openings.Select(o => o.Name)]).ConfigureAwait(false);
            await MakeRoomAsync([.. openings.Where(o => o.Name is { Id: 0, Refusal: null })]).ConfigureAwait(false);
        }
#pragma warning disable CA1031 // Those that have asked throw it.
        catch (Exception e)
#pragma warning restore CA1031
        {
            foreach (ProducerOpening opening in openings)
                opening.Fail(e);
            return;
        }
        foreach (ProducerOpening opening in openings)
        {
            if (opening.Name.Id != 0)
                opening.Attach();
            else
                opening.Fail(opening.Name.Refusal ?? Exhausted(opening));
        }
    }

    /// <summary>
    /// Tries again for topics with as many names as they may have, without those that nobody remembers.
    /// </summary>
    private async ValueTask MakeRoomAsync(IReadOnlyList<ProducerOpening> openings)
    {
        // Of a topic whose partitions other nodes own, this one does not know whom they remember.
        ProducerOpening[] left = [.. openings.Where(o => !(catalog.IsShared && o.Partition.Topic.IsIncomplete))];
        foreach (Topic topic in left.Select(o => o.Partition.Topic).Distinct())
            await catalog.ForgetProducersAsync(topic.Id, topic.RememberedProducers()).ConfigureAwait(false);
        if (left.Length != 0)
            await catalog.NextEpochsAsync([.. left.Select(o => o.Name)]).ConfigureAwait(false);
    }

    private BrokerException Exhausted(ProducerOpening opening) =>
        refusals.Exhausted(
            nameof(BrokerOptions.MaxNamedProducersPerTopic),
            opening.Name.MostNames,
            opening.Name.Found.All >= opening.Name.MostNames
                ? $"The topic '{opening.Partition.Topic.Name}' has as many named producers"
                : UserShare.Describe(
                    opening.Name.Found.Own,
                    opening.Name.Found.All,
                    $"named producers of the topic '{opening.Partition.Topic.Name}'"
                )
        );
}
