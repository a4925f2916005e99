using LightQ.Protocol.Frames;

namespace LightQ.Broker.Catalog;

/// <summary>A named producer that wants its id and the next epoch, and what the catalog answered.</summary>
internal sealed class NameRequest
{
    /// <summary>The topic.</summary>
    public required Guid Topic { get; init; }

    /// <summary>The producer's name.</summary>
    public required string Name { get; init; }

    /// <summary>The <see cref="Users.UserNumber"/> of whoever wants it.</summary>
    public uint User { get; init; }

    /// <summary>Whether the names of the topic are the same whoever publishes.</summary>
    public bool IsShared { get; init; }

    /// <summary>Which one of the name it is; see <see cref="OpenProducerFrame.Instance"/>.</summary>
    public ulong Instance { get; init; }

    /// <summary>Which of its openings this is; see <see cref="OpenProducerFrame.Number"/>.</summary>
    public ulong Number { get; init; }

    /// <summary>Whether it must have the name already: then it does not take it from another.</summary>
    public bool IsReturning { get; init; }

    /// <summary>How many names the topic may have.</summary>
    public int MostNames { get; init; } = int.MaxValue;

    /// <summary>See <see cref="BrokerOptions.MaxSharePercent"/>.</summary>
    public int SharePercent { get; init; } = Shares.UsualPercent;

    /// <summary>Whether its client has gone meanwhile: then it gets nothing, and takes nothing from another.</summary>
    public Func<bool> HasEnded { get; init; } = static () => false;

    /// <summary>Its id; 0 when it got none.</summary>
    public ulong Id { get; private set; }

    /// <summary>Its epoch.</summary>
    public uint Epoch { get; private set; }

    /// <summary>Why it got none; null also when the topic has as many names as it may have.</summary>
    public BrokerException? Refusal { get; private set; }

    /// <summary>What was counted when there was no room for its name: of the user's, and of all.</summary>
    public (int Own, int All) Found { get; private set; }

    /// <summary>It gets an id and an epoch.</summary>
    public void Give(ulong id, uint epoch) => (Id, Epoch, Refusal) = (id, epoch, null);

    /// <summary>It gets none.</summary>
    public void Refuse(BrokerException reason) => (Id, Epoch, Refusal) = (0, 0, reason);

    /// <summary>It gets none, as there are as many names as there may be.</summary>
    /// <param name="own">How many are the user's.</param>
    /// <param name="all">How many there are.</param>
    public void RefuseForRoom(int own, int all) => (Id, Epoch, Refusal, Found) = (0, 0, null, (own, all));
}
