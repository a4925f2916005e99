using LightQ.Client;
using LightQ.Client.Consuming;
using Xunit;

namespace LightQ.Tests.Client;

/// <summary>A message that is read after the next one came, where that is checked.</summary>
public sealed class MessageUseTests
{
    [Fact]
    public async Task What_is_read_too_late_throws_and_what_stays_valid_stays()
    {
        await using var messages = new CheckedMessages(Of("first", "second"));
        Assert.True(await messages.MoveNextAsync());
        Message first = messages.Current;
        ReadOnlyMemory<byte> body = first.Body;
        Message kept = first.ToOwned();
        Assert.Equal("first", first.GetText());

        Assert.True(await messages.MoveNextAsync());

        Assert.Equal("second", messages.Current.GetText());
        Assert.Equal("first", kept.GetText());
        Assert.False(body.Span.SequenceEqual("first"u8));
        Assert.Contains(
            "ToOwned()",
            Assert.Throws<InvalidOperationException>(() => first.Body).Message,
            StringComparison.Ordinal
        );
        Assert.Throws<InvalidOperationException>(() => first.BodySpan.Length);
        Assert.Throws<InvalidOperationException>(first.GetText);
        Assert.Throws<InvalidOperationException>(() => first.Key);
        Assert.Throws<InvalidOperationException>(() => first.HasKey);
        Assert.Throws<InvalidOperationException>(() => first.IsTombstone);
        Assert.Throws<InvalidOperationException>(() => first.TryGetHeader("a", out _));
        Assert.Throws<InvalidOperationException>(() => first.ToOwned());
        Assert.Equal((0L, 1), (first.Offset, first.DeliveryCount));
        Assert.Equal(SettleOutcome.Done, await first.CompleteAsync(TestContext.Current.CancellationToken));
    }

    [Fact]
    public async Task The_last_message_is_over_with_its_enumeration()
    {
        Message left,
            last;
        await using (var messages = new CheckedMessages(Of("first")))
        {
            Assert.True(await messages.MoveNextAsync());
            left = messages.Current;
        }
        await using (var messages = new CheckedMessages(Of("first")))
        {
            Assert.True(await messages.MoveNextAsync());
            last = messages.Current;
            Assert.False(await messages.MoveNextAsync());
            Assert.Throws<InvalidOperationException>(last.GetText);
        }
        Assert.Throws<InvalidOperationException>(left.GetText);
    }

    [Fact]
    public async Task Values_are_read_before_the_message_is_over()
    {
        IAsyncEnumerable<Message> stream = new Checked();
        var values = new List<Message<string>>();
        await foreach (Message<string> value in new TypedStream<string>(stream, "t", MessageSerializer.Text))
            values.Add(value);
        Assert.Equal(["a", "b"], values.Select(value => value.Value));
        Assert.Throws<InvalidOperationException>(values[0].Raw.GetText);
    }

    [Fact]
    public void A_switch_of_the_program_says_whether_it_is_checked() => Assert.False(MessageUse.IsChecked);

    private static async IAsyncEnumerator<Message> Of(params string[] bodies)
    {
        await Task.Yield();
        for (int i = 0; i < bodies.Length; i++)
        {
            yield return Message.Create(
                System.Text.Encoding.UTF8.GetBytes(bodies[i]),
                "key",
                new MessageHeaders { { "a", "1" } },
                offset: i,
                deliveryCount: 1
            );
        }
    }

    private sealed class Checked : IAsyncEnumerable<Message>
    {
        public IAsyncEnumerator<Message> GetAsyncEnumerator(CancellationToken cancellationToken = default) =>
            new CheckedMessages(Of("a", "b"));
    }
}
