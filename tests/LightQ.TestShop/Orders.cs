using System.Collections.Concurrent;

namespace LightQ.TestShop;

/// <summary>What the shop has handled.</summary>
public sealed class Orders
{
    /// <summary>The ids of the orders, in the order of handling.</summary>
    public ConcurrentQueue<string> Billed { get; } = new();
}
