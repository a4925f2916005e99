using LightQ.Broker.Users;
using LightQ.Storage.Files;

namespace LightQ.Broker.Catalog;

/// <summary>
/// Answers the requests of named producers out of the tables, one after the other, and collects the records that make
/// the answers true. The tables are locked.
/// </summary>
/// <remarks>
/// Each user has names of its own. A name that is nobody's, as all are that were made before there were owners or
/// without a login, goes to the user that opens it next. Where names are shared, or the caller has no login, a name is
/// whoever's it was, and nobody's from then on.
/// </remarks>
/// <param name="tables">The tables.</param>
/// <param name="isShared">Whether other nodes change them, too.</param>
internal sealed class NamePlan(CatalogTables tables, bool isShared)
{
    /// <summary>Epochs of a name that are noted ahead: so many partitions can be opened for one record.</summary>
    private const uint EpochsNoted = 64;

    private readonly Dictionary<(Guid Topic, ulong Id), CatalogRecord.ProducerEntry> _noted = [];
    private readonly Dictionary<(Guid Topic, uint Owner, string Name), CatalogRecord.ProducerEntry> _named = [];
    private readonly Dictionary<(Guid Topic, ulong Id), uint> _lastEpochs = [];
    private readonly Dictionary<(Guid Topic, uint User), int> _added = [];
    private uint _lastCount = tables.LastProducerCount;

    /// <summary>What is to be stored; of each producer at most one record.</summary>
    public IReadOnlyList<CatalogRecord> Records =>
        [.. _noted.Values.Select(entry => new CatalogRecord { Producer = entry })];

    /// <summary>Answers one request, and counts what the answers before it have changed.</summary>
    public void Answer(NameRequest request)
    {
        uint owner = request.IsShared || Mutation.AnyOwner ? UserNumber.None : request.User;
        CatalogRecord.ProducerEntry? known = Find(request, owner);
        if (RefusalOf(request, known) is { } refusal)
        {
            request.Refuse(refusal);
            return;
        }
        if (known is null && !HasRoom(request))
            return;
        CatalogRecord.ProducerEntry entry =
            known ?? new(request.Topic, request.Name, CatalogRecord.ProducerEntry.IdOf(request.User, ++_lastCount), 0);
        (Guid, ulong) key = (entry.TopicId, entry.Id);
        uint last = _lastEpochs.TryGetValue(key, out uint here)
            ? here
            : tables.LastEpochOf(entry.TopicId, entry.Id) ?? entry.Epoch;
        uint epoch = last + 1;
        bool takesOver = known?.Instance is not { } holder || holder != request.Instance;
        entry = entry with
        {
            Epoch = epoch > entry.Epoch ? entry.Epoch + EpochsNoted : entry.Epoch,
            Instance = request.Instance,
            Number = takesOver ? NumberOf(request) : entry.Number,
            Owner = owner == UserNumber.None ? null : owner,
        };
        _lastEpochs[key] = epoch;
        if (entry != known)
            Note(entry, known);
        request.Give(entry.Id, epoch);
    }

    /// <summary>Notes which epochs are given out; when the records, if there are any, are applied.</summary>
    public void Note()
    {
        foreach (((Guid topic, ulong id), uint epoch) in _lastEpochs)
            tables.SetLastEpoch(topic, id, epoch);
    }

    private void Note(CatalogRecord.ProducerEntry entry, CatalogRecord.ProducerEntry? before)
    {
        if (before is not null)
            _named.Remove((before.TopicId, before.OwnerNumber, before.Name));
        _named[(entry.TopicId, entry.OwnerNumber, entry.Name)] = entry;
        _noted[(entry.TopicId, entry.Id)] = entry;
    }

    private CatalogRecord.ProducerEntry? Find(NameRequest request, uint owner) =>
        FindOf(request, owner)
        ?? (
            owner != UserNumber.None
                ? FindOf(request, UserNumber.None)
                : tables.FindOwned(request.Topic, request.Name).FirstOrDefault(IsAsStored)
        );

    private CatalogRecord.ProducerEntry? FindOf(NameRequest request, uint owner) =>
        _named.TryGetValue((request.Topic, owner, request.Name), out CatalogRecord.ProducerEntry? noted) ? noted
        : tables.FindProducer(request.Topic, owner, request.Name) is { } stored && IsAsStored(stored) ? stored
        : null;

    private bool IsAsStored(CatalogRecord.ProducerEntry entry) => !_noted.ContainsKey((entry.TopicId, entry.Id));

    /// <summary>Whether the topic may have another name, and the user may make one.</summary>
    private bool HasRoom(NameRequest request)
    {
        int all =
            tables.CountProducers(request.Topic) + _added.Where(a => a.Key.Topic == request.Topic).Sum(a => a.Value);
        int own =
            tables.CountProducers(request.Topic, request.User)
            + _added.GetValueOrDefault((request.Topic, request.User));
        if (
            all >= request.MostNames
            || UserShare.IsUsedUp(request.User, own, all, request.MostNames, request.SharePercent)
        )
        {
            request.RefuseForRoom(own, all);
            return false;
        }
        _added[(request.Topic, request.User)] = _added.GetValueOrDefault((request.Topic, request.User)) + 1;
        return true;
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
