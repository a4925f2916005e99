using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Frames;
using Xunit;

namespace LightQ.Tests.Broker.Groups;

/// <summary>What a group on one partition must do, message by message, as plainly as it can be said.</summary>
internal sealed class GroupModel(DeliverySettings settings)
{
    private readonly List<MessageState> _messages = [];

    public enum Standing
    {
        New,
        Held,
        Waiting,
        Completed,
        GivenUp,
    }

    public int Count => _messages.Count;

    public IEnumerable<long> GivenUp => Offsets(Standing.GivenUp);

    public IEnumerable<long> Left =>
        Offsets(Standing.New).Concat(Offsets(Standing.Held)).Concat(Offsets(Standing.Waiting));

    /// <summary>The lowest offset that is not settled.</summary>
    public long Committed
    {
        get
        {
            int first = _messages.FindIndex(m => m.Standing is not (Standing.Completed or Standing.GivenUp));
            return first < 0 ? _messages.Count : first;
        }
    }

    public void Publish(int messages) =>
        _messages.AddRange(Enumerable.Range(0, messages).Select(_ => new MessageState()));

    public int InFlight(object member) => _messages.Count(m => m.Standing == Standing.Held && m.Member == member);

    public bool IsHeld(object member, uint deliveryId) =>
        _messages.Exists(m => m.Standing == Standing.Held && m.Member == member && m.DeliveryId == deliveryId);

    /// <summary>Whether what comes next was in hand at two deaths: it is given alone.</summary>
    public bool IsNextAlone(DateTimeOffset now) =>
        _messages.Find(m => m.Standing == Standing.Waiting && m.NotBefore <= now) is { Losses: >= 2 };

    public bool IsHeldByOthers(object member) =>
        _messages.Exists(m => m.Standing == Standing.Held && m.Member != member);

    /// <summary>Checks what a member was given.</summary>
    /// <param name="member">The member.</param>
    /// <param name="taken">What it was given; default for nothing.</param>
    /// <param name="maxInFlight">How many messages it may hold; 0 for no limit.</param>
    /// <param name="mayTake">Whether the partition is its.</param>
    /// <param name="says">Whether it says what it begins.</param>
    /// <param name="now">Now.</param>
    public void Take(object member, GroupDelivery taken, uint maxInFlight, bool mayTake, bool says, DateTimeOffset now)
    {
        int again = _messages.FindIndex(m => m.Standing == Standing.Waiting && m.NotBefore <= now);
        int expected = again >= 0 ? again : _messages.FindIndex(m => m.Standing == Standing.New);
        int room = maxInFlight == 0 ? int.MaxValue : (int)maxInFlight - InFlight(member);
        if (expected < 0 || room <= 0 || !mayTake)
        {
            Assert.Equal(0u, taken.Count);
            return;
        }
        Assert.True(taken.Count > 0, $"message {expected} is there to be had, and nothing came");
        Assert.Equal(expected, taken.FirstOffset);
        Assert.True(taken.Count <= room, $"{taken.Count} messages where {room} were allowed");
        Assert.True(!IsNextAlone(now) || taken.Count == 1, "a message that is given alone has company");
        foreach (long offset in GroupHost.Offsets(taken))
        {
            MessageState message = _messages[(int)offset];
            Assert.True(
                message.Standing == Standing.New || (message.Standing == Standing.Waiting && message.NotBefore <= now),
                $"message {offset} was {message.Standing}"
            );
            Assert.Equal(message.Deliveries + 1, taken.DeliveryCount);
            Assert.Equal(says && message.IsDoubted, taken.IsDoubted);
            message.IsBegun = !says;
            (message.Standing, message.Member, message.DeliveryId, message.Until, message.Deliveries) = (
                Standing.Held,
                member,
                taken.DeliveryId,
                now + settings.LockDuration,
                taken.DeliveryCount
            );
        }
    }

    /// <summary>What a settlement comes to, and does.</summary>
    public SettleOutcome Settle(
        object member,
        SettleKind kind,
        uint deliveryId,
        long first,
        uint count,
        uint delay,
        DateTimeOffset now,
        bool hasExpired
    )
    {
        MessageState[] named = first + count <= _messages.Count ? [.. _messages.Skip((int)first).Take((int)count)] : [];
        if (hasExpired)
            return SettleOutcome.LockExpired;
        if (
            named.Length == 0
            || named.Any(m => m.Standing != Standing.Held || m.Member != member || m.DeliveryId != deliveryId)
        )
        {
            return SettleOutcome.Unknown;
        }

        if (kind == SettleKind.Renew)
        {
            foreach (
                MessageState held in _messages.Where(m =>
                    m.Standing == Standing.Held && m.Member == member && m.DeliveryId == deliveryId
                )
            )
            {
                held.Until = now + settings.LockDuration;
            }

            return SettleOutcome.Done;
        }
        foreach (MessageState message in named)
        {
            if (kind == SettleKind.Begin)
            {
                message.IsBegun = true;
            }
            else if (kind == SettleKind.Complete)
            {
                message.Standing = Standing.Completed;
            }
            else if (kind == SettleKind.DeadLetter)
            {
                message.Standing = Standing.GivenUp;
            }
            else if (kind == SettleKind.Return)
            {
                Return(message, message.Deliveries - 1, now);
            }
            else
            {
                Return(
                    message,
                    message.Deliveries,
                    now + (delay != 0 ? TimeSpan.FromMilliseconds(delay) : Backoff(message.Deliveries))
                );
            }
        }
        return SettleOutcome.Done;
    }

    /// <summary>A member leaves, or is lost.</summary>
    public void Leave(object member, bool isOrderly, DateTimeOffset now)
    {
        MessageState[] left = [.. _messages.Where(m => m.Standing == Standing.Held && m.Member == member)];
        bool isOnly = left.Count(m => m.IsBegun) == 1;
        foreach (MessageState message in left)
        {
            if (!isOrderly && message.IsBegun)
                message.Losses++;
            message.IsDoubted |= !isOrderly;
            if (!isOrderly && message.IsBegun && !isOnly && message.Deliveries == settings.MaxDeliveries)
            {
                // Any of them may have ended the member: it gets another delivery, alone.
                message.Losses = Math.Max(2, message.Losses);
                message.Deliveries--;
            }
            Return(message, isOrderly || !message.IsBegun ? message.Deliveries - 1 : message.Deliveries, now);
        }
    }

    /// <summary>The deliveries of a member whose lock runs out by then.</summary>
    public IEnumerable<uint> ExpiredOf(object member, DateTimeOffset now) =>
        _messages
            .Where(m => m.Standing == Standing.Held && m.Member == member && m.Until <= now)
            .Select(m => m.DeliveryId)
            .Distinct();

    /// <summary>Time has come this far.</summary>
    public void Expire(DateTimeOffset now)
    {
        foreach (MessageState message in _messages.Where(m => m.Standing == Standing.Held && m.Until <= now))
        {
            message.IsDoubted |= !message.IsBegun;
            if (message.IsBegun)
                Return(message, message.Deliveries, message.Until + Backoff(message.Deliveries));
            else
                Return(message, message.Deliveries - 1, message.Until);
        }
    }

    /// <summary>When the next lock runs out or delay ends.</summary>
    public DateTimeOffset? NextTime(DateTimeOffset now) =>
        _messages
            .Select(m =>
                m.Standing == Standing.Held ? m.Until
                : m.Standing == Standing.Waiting && m.NotBefore > now ? m.NotBefore
                : (DateTimeOffset?)null
            )
            .Min();

    private TimeSpan Backoff(int deliveries)
    {
        TimeSpan delay = settings.RetryDelay;
        for (int i = 1; i < deliveries && delay < settings.MaxRetryDelay; i++)
            delay *= 2;
        return delay < settings.MaxRetryDelay ? delay : settings.MaxRetryDelay;
    }

    private void Return(MessageState message, int deliveries, DateTimeOffset notBefore)
    {
        bool isGivenUp = settings.MaxDeliveries != 0 && deliveries >= settings.MaxDeliveries;
        (message.Standing, message.Deliveries, message.NotBefore) = (
            isGivenUp ? Standing.GivenUp : Standing.Waiting,
            deliveries,
            notBefore
        );
    }

    private IEnumerable<long> Offsets(Standing standing) =>
        _messages.Select((m, i) => (m, i)).Where(x => x.m.Standing == standing).Select(x => (long)x.i);

    private sealed class MessageState
    {
        public Standing Standing { get; set; }

        public object? Member { get; set; }

        public uint DeliveryId { get; set; }

        public bool IsBegun { get; set; }

        public bool IsDoubted { get; set; }

        public int Losses { get; set; }

        public int Deliveries { get; set; }

        public DateTimeOffset Until { get; set; }

        public DateTimeOffset NotBefore { get; set; }
    }
}
