namespace LightQ.Client.Consuming;

/// <summary>
/// How much is delivered ahead of the work of a member of a group: what the work gets done in a tenth of a second.
/// </summary>
/// <remarks>
/// Members that work equally fast so hold equally little, whoever came first; what they hold is worked on long before
/// its lock runs out; and a tenth of a second is many times the way to the broker and back. It begins small, doubles
/// while the work is faster than that, and falls at once to what the work is worth. Not thread-safe.
/// </remarks>
internal sealed class InFlightWindow
{
    /// <summary>Where messages are worked on one by one.</summary>
    public const int FirstMessages = 32;

    /// <summary>Where they are worked on by the batch, which should come whole.</summary>
    public const int FirstBatches = 4096;

    /// <summary>The work that may wait, by the time it takes; after so much it is looked at in any case.</summary>
    public static readonly TimeSpan Work = TimeSpan.FromMilliseconds(100);

    /// <summary>
    /// Of work that takes so long for one message, none waits: the way to the broker is nothing beside it, and another
    /// member could begin at once.
    /// </summary>
    private static readonly TimeSpan SlowWork = TimeSpan.FromSeconds(1);

    private bool _hasGrown;

    /// <param name="first">How many messages may wait at first.</param>
    public InFlightWindow(int first) => Ahead = first;

    /// <summary>How many messages may wait behind those that are worked on.</summary>
    public int Ahead { get; private set; }

    /// <summary>How many messages are worked on at a time; 0 where the loop finds out.</summary>
    public int AtATime { get; init; }

    /// <summary>Most messages that may wait.</summary>
    public int Most { get; init; } = 1 << 20;

    /// <summary>Called when it is another one, where the loop does not find out itself; set by the consumer.</summary>
    public Action? Changed { get; set; }

    /// <summary>
    /// Says why a partition gives nothing, null while all do, as far as is known. Set by the consumer.
    /// </summary>
    public Func<LightQException?>? Lack { get; set; }

    /// <summary>
    /// Called when nothing more is begun: what waits is for other members, and what is in hand is still settled. Set by
    /// the consumer.
    /// </summary>
    public Action? Ended { get; set; }

    /// <summary>How many messages are fetched at a time; 0 where they are enumerated.</summary>
    public int Fetched { get; private set; }

    /// <summary>Whether so many messages were worked on that it should be looked at.</summary>
    public bool IsWorthALook(int messages) => messages > Ahead / 2 || _hasGrown;

    /// <summary>A fetch asks for so many: as many may wait for it.</summary>
    public void Fetch(int messages)
    {
        if (messages <= Fetched)
            return;
        (Fetched, _hasGrown) = (messages, true);
        Ahead = Math.Max(Ahead, messages);
    }

    /// <summary>Nothing is done any more: nothing is to wait.</summary>
    public void OnStoodStill() => Ahead = Fetched;

    /// <summary>Adapts to what was done.</summary>
    /// <param name="messages">How many messages, 1 or more.</param>
    /// <param name="work">How long that took; without the time in which there was nothing to do.</param>
    /// <returns>Whether it is another one now.</returns>
    public bool OnWorked(int messages, TimeSpan work)
    {
        TimeSpan each = work / messages;
        double worth = each >= SlowWork ? 0 : Math.Max(1, Work / each);
        int wanted = Math.Max(Fetched, (int)Math.Min(Most, worth));
        int before = Ahead;
        if (wanted > before + (before / 2))
            Ahead = Math.Min(wanted, Math.Max(2, 2 * before));
        else if (wanted < before / 2 || wanted == 0)
            Ahead = wanted;
        bool isOther = Ahead != before || _hasGrown;
        _hasGrown = false;
        return isOther;
    }
}
