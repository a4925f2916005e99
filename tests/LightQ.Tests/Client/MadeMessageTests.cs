using System.Text;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>Messages that a test makes for what handles messages.</summary>
public sealed class MadeMessageTests
{
    private static readonly DateTimeOffset Noon = new(2026, 1, 2, 12, 0, 0, TimeSpan.Zero);

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public void The_default_of_the_type_says_that_it_is_no_message()
    {
        Func<object?>[] reads =
        [
            () => default(Message).Body,
            () => default(Message).BodySpan.Length,
            () => default(Message).Key,
            () => default(Message).HasKey,
            () => default(Message).IsTombstone,
            () => default(Message).Headers.MoveNext(),
            () => default(Message).TryGetHeader("origin", out _),
            () => default(Message).Timestamp,
            () => default(Message).AppendTime,
            () => default(Message).MessageId,
            () => default(Message).GetText(),
            () => default(Message).CompleteAsync(Cancel).AsTask(),
            () => default(Message).AbandonAsync(cancellationToken: Cancel).AsTask(),
            () => default(Message<string>).Raw.Body,
        ];
        Assert.All(reads, read => Assert.Throws<InvalidOperationException>(read));
        Assert.Throws<InvalidOperationException>(() => default(Message).QueueCompletion());
    }

    [Fact]
    public void It_has_what_it_was_made_with()
    {
        Message message = Message.Create(
            "hello"u8,
            "42",
            new MessageHeaders { { "origin", "shop" } },
            offset: 7,
            partition: 3,
            timestamp: Noon,
            messageId: "payment-1",
            deliveryCount: 2
        );
        Assert.Equal("hello", message.GetText());
        Assert.True(message.HasKey && message.Key.Span.SequenceEqual("42"u8));
        Assert.True(message.TryGetHeader("origin", out ReadOnlySpan<byte> origin) && origin.SequenceEqual("shop"u8));
        Assert.Equal(
            (7L, 3, Noon, Noon, "payment-1", 2, false),
            (
                message.Offset,
                message.Partition,
                message.Timestamp,
                message.AppendTime,
                message.MessageId,
                message.DeliveryCount,
                message.IsTombstone
            )
        );
    }

    [Fact]
    public void With_a_body_alone_it_has_nothing_else()
    {
        Message message = Message.Create(Encoding.UTF8.GetBytes(new string('x', 100_000)));
        Assert.Equal(
            (100_000, false, false, null, 0),
            (message.Body.Length, message.HasKey, message.IsTombstone, message.MessageId, message.DeliveryCount)
        );
        Assert.False(message.TryGetHeader("origin", out _));
        Assert.Throws<InvalidOperationException>(message.QueueCompletion);
    }

    [Fact]
    public void A_tombstone_has_a_key_and_no_body()
    {
        Message message = Message.Create("ignored"u8, "42", isTombstone: true);
        Assert.True(message.IsTombstone && message.HasKey && message.Body.IsEmpty);
        Assert.IsType<FormatException>(message.As(MessageSerializer.Text, "orders").Error!.InnerException);
    }

    [Fact]
    public async Task What_is_said_of_it_is_told_and_answered()
    {
        var said = new List<MessageSettlement>();
        Message message = Message.Create(
            "x"u8,
            offset: 5,
            deliveryCount: 1,
            settle: settlement =>
            {
                said.Add(settlement);
                return settlement.Kind == SettleKind.Renew ? SettleOutcome.LockExpired : SettleOutcome.Done;
            }
        );
        message.QueueCompletion();
        Assert.Equal(SettleOutcome.Done, await message.CompleteAsync(Cancel));
        Assert.Equal(SettleOutcome.Done, await message.AbandonAsync(TimeSpan.FromSeconds(2), "busy", Cancel));
        Assert.Equal(SettleOutcome.Done, await message.AbandonAsync(cancellationToken: Cancel));
        Assert.Equal(SettleOutcome.Done, await message.DeadLetterAsync("no order", Cancel));
        Assert.Equal(SettleOutcome.LockExpired, await message.RenewLockAsync(Cancel));
        Assert.Equal(
            [
                new(SettleKind.Complete, 5, null, ""),
                new(SettleKind.Complete, 5, null, ""),
                new(SettleKind.Abandon, 5, TimeSpan.FromSeconds(2), "busy"),
                new(SettleKind.Abandon, 5, null, ""),
                new(SettleKind.DeadLetter, 5, null, "no order"),
                new(SettleKind.Renew, 5, null, ""),
            ],
            said
        );
    }

    [Fact]
    public async Task One_that_was_delivered_is_settled_without_anybody_being_told()
    {
        Message message = Message.Create("x"u8, deliveryCount: 1);
        message.QueueCompletion();
        Assert.Equal(SettleOutcome.Done, await message.CompleteAsync(Cancel));
        Assert.Equal(DateTimeOffset.MaxValue, message.LockedUntil);
    }

    [Fact]
    public void What_no_message_can_be_is_refused()
    {
        Assert.Throws<ArgumentException>(() => Message.Create("x"u8, messageId: ""));
        Assert.Throws<ArgumentOutOfRangeException>(() => Message.Create("x"u8, offset: -1));
        Assert.Throws<ArgumentOutOfRangeException>(() => Message.Create("x"u8, partition: -1));
        Assert.Throws<ArgumentOutOfRangeException>(() => Message.Create("x"u8, deliveryCount: 65_536));
    }
}
