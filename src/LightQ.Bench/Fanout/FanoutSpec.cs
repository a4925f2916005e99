using LightQ.Client;

namespace LightQ.Bench.Fanout;

/// <summary>What one client process of a fan-out does, as the parent tells it.</summary>
internal sealed record FanoutSpec
{
    /// <summary>The broker's connection string.</summary>
    public required string Endpoint { get; init; }

    public string Topic { get; init; } = "";

    /// <summary>The first of its subscribers, by number.</summary>
    public int FirstSubscriber { get; init; }

    public int Subscribers { get; init; }

    /// <summary>All publishers of the run; the publishing process has every one of them.</summary>
    public int Publishers { get; init; }

    /// <summary>Bytes of every body.</summary>
    public int Size { get; init; }

    /// <summary>Messages a second of each publisher.</summary>
    public double Rate { get; init; }

    /// <summary>Messages of each publisher that are sent first, and are in no figure but the settled ones.</summary>
    public int WarmUpEach { get; init; }

    /// <summary>Measured messages of each publisher.</summary>
    public int MessagesEach { get; init; }

    public Durability Ack { get; init; }

    /// <summary>Whether all publishers send at the same moments.</summary>
    public bool Synchronised { get; init; }

    /// <summary>Everything each publisher sends.</summary>
    public int AllEach => WarmUpEach + MessagesEach;
}
