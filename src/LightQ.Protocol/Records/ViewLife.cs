using System.Runtime.CompilerServices;

namespace LightQ.Protocol.Records;

/// <summary>How long a view is good; the default, of memory that stays as it is, has no end.</summary>
internal readonly struct ViewLife(ViewClock? clock, long begun)
{
    /// <summary>Throws where the memory may hold something else by now.</summary>
    /// <exception cref="InvalidOperationException">The view is over.</exception>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    public void ThrowIfOver()
    {
        if (clock is not null && clock.Now != begun)
            ThrowOver();
    }

    [MethodImpl(MethodImplOptions.NoInlining)]
    private static void ThrowOver() =>
        throw new InvalidOperationException(
            "The batch is over: it was a view of memory that is used again from the moment at which the next batch is "
                + "asked for, or the enumeration ends. Copy what is to be kept, or consume messages, which own theirs."
        );
}
