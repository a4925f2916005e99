namespace LightQ.Broker.Catalog;

/// <summary>
/// Answers the requests of named producers out of the tables, one after the other, and collects the records that make
/// the answers true. The tables are locked.
/// </summary>
/// <param name="tables">The tables.</param>
/// <param name="isShared">Whether other nodes change them, too.</param>
internal sealed class NamePlan(CatalogTables tables, bool isShared)
{
    /// <summary>Epochs of a name that are noted ahead: so many partitions can be opened for one record.</summary>
    private const uint EpochsNoted = 64;

    private readonly Dictionary<(Guid Topic, string Name), CatalogRecord.ProducerEntry> _noted = [];
    private readonly Dictionary<(Guid Topic, string Name), uint> _lastEpochs = [];
    private readonly Dictionary<Guid, int> _added = [];
    private ulong _lastId = tables.LastProducerId;

    /// <summary>What is to be stored; of each name at most one record.</summary>
    public IReadOnlyList<CatalogRecord> Records =>
        [.. _noted.Values.Select(entry => new CatalogRecord { Producer = entry })];

    /// <summary>Answers one request, and counts what the answers before it have changed.</summary>
    public void Answer(NameRequest request)
    {
        (Guid, string) key = (request.Topic, request.Name);
        CatalogRecord.ProducerEntry? known =
            _noted.GetValueOrDefault(key) ?? tables.FindProducer(request.Topic, request.Name);
        if (RefusalOf(request, known) is { } refusal)
        {
            request.Refuse(refusal);
            return;
        }
        if (known is null)
        {
            int added = _added.GetValueOrDefault(request.Topic);
            if (tables.CountProducers(request.Topic) + added >= request.MostNames)
            {
                request.Refuse(null);
                return;
            }
            _added[request.Topic] = added + 1;
        }
        CatalogRecord.ProducerEntry entry =
            known ?? new CatalogRecord.ProducerEntry(request.Topic, request.Name, ++_lastId, 0);
        uint last = _lastEpochs.TryGetValue(key, out uint here)
            ? here
            : tables.LastEpochOf(request.Topic, request.Name) ?? entry.Epoch;
        uint epoch = last + 1;
        bool takesOver = known?.Instance is not { } holder || holder != request.Instance;
        entry = entry with
        {
            Epoch = epoch > entry.Epoch ? entry.Epoch + EpochsNoted : entry.Epoch,
            Instance = request.Instance,
            Number = takesOver ? NumberOf(request) : entry.Number,
        };
        _lastEpochs[key] = epoch;
        if (entry != known)
            _noted[key] = entry;
        request.Give(entry.Id, epoch);
    }

    /// <summary>Notes which epochs are given out; when the records, if there are any, are applied.</summary>
    public void Note()
    {
        foreach (((Guid topic, string name), uint epoch) in _lastEpochs)
            tables.SetLastEpoch(topic, name, epoch);
    }

    private static ulong? NumberOf(NameRequest request) => request.Number == 0 ? null : request.Number;

    private BrokerException? RefusalOf(NameRequest request, CatalogRecord.ProducerEntry? known)
    {
        // Last of all: an opening whose client has gone would end the stream of one that is there.
        if (request.HasEnded())
            return new BrokerException(ErrorCode.Closed, "The connection has ended.");
        if (isShared && tables.FindTopic(request.Topic) is null)
            return new BrokerException(ErrorCode.UnknownTopic, "The topic is gone.");
        if (known?.Instance is not { } holder || holder == request.Instance)
            return null;
        if (request.IsReturning)
            return new BrokerException(ErrorCode.Fenced, $"A newer producer has taken over the name '{request.Name}'.");
        return known.Number is { } number && NumberOf(request) < number
            ? new OvertakenException(request.Name, number)
            : null;
    }
}
