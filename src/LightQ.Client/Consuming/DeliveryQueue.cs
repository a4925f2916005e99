using System.Diagnostics.CodeAnalysis;

namespace LightQ.Client.Consuming;

/// <summary>
/// What was delivered and not taken, oldest first; what came last may be taken away again. Not thread-safe.
/// </summary>
internal sealed class DeliveryQueue
{
    private Delivery[] _items = new Delivery[16];
    private int _first;

    /// <summary>How many deliveries and gaps.</summary>
    public int Count { get; private set; }

    /// <summary>How many messages that are locked for this member.</summary>
    public int Messages { get; private set; }

    public void Enqueue(in Delivery delivery)
    {
        if (Count == _items.Length)
            Grow();
        At(Count++) = delivery;
        Messages += (int)delivery.Range.Count;
    }

    public bool TryDequeue(out Delivery delivery)
    {
        delivery = default;
        if (Count == 0)
            return false;
        delivery = At(0);
        At(0) = default;
        _first = (_first + 1) & (_items.Length - 1);
        Count--;
        Messages -= (int)delivery.Range.Count;
        return true;
    }

    /// <summary>Takes the newest away if it is a delivery with a lock.</summary>
    public bool TryTakeLast(out Delivery delivery)
    {
        delivery = Count == 0 ? default : At(Count - 1);
        if (delivery.Held is null)
            return false;
        At(--Count) = default;
        Messages -= (int)delivery.Range.Count;
        return true;
    }

    [SuppressMessage("Style", "IDE0251", Justification = "What it returns is written to.")]
    private ref Delivery At(int index) => ref _items[(_first + index) & (_items.Length - 1)];

    private void Grow()
    {
        var items = new Delivery[2 * _items.Length];
        for (int i = 0; i < Count; i++)
            items[i] = At(i);
        (_items, _first) = (items, 0);
    }
}
