using LightQ.Broker;
using LightQ.Broker.Users;
using LightQ.Protocol;
using LightQ.Server.Security;
using Xunit;

namespace LightQ.Tests.Server.Security;

public sealed class PasswordQueueTests
{
    private static readonly string Hash = PasswordHash.Create("right-password");
    private static readonly Guid Account = Guid.NewGuid();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    [Fact]
    public async Task A_right_password_is_hashed_once_however_many_show_it_at_once()
    {
        var queue = new PasswordQueue(() => 1000, new LimitRefusals());
        bool[] right = await Task.WhenAll(Enumerable.Range(0, 200).Select(_ => queue.VerifyAsync(Account, Hash, "right-password", Cancel).AsTask()));
        Assert.All(right, Assert.True);
        Assert.InRange(queue.Hashed, 1, PasswordQueue.AtOnce);
        Assert.True(await queue.VerifyAsync(Account, Hash, "right-password", Cancel));
        Assert.InRange(queue.Hashed, 1, PasswordQueue.AtOnce);
    }

    [Fact]
    public async Task What_is_remembered_is_this_password_of_this_hash_and_nothing_else()
    {
        var queue = new PasswordQueue(() => 10, new LimitRefusals());
        Assert.True(await queue.VerifyAsync(Account, Hash, "right-password", Cancel));
        Assert.False(await queue.VerifyAsync(Account, Hash, "wrong-password", Cancel));
        Assert.False(await queue.VerifyAsync(Account, PasswordHash.Create("another-password"), "right-password", Cancel));
        Assert.False(await queue.VerifyAsync(Account, null, "right-password", Cancel));
        Assert.True(await queue.VerifyAsync(Account, Hash, "right-password", Cancel));
    }

    [Fact]
    public async Task Who_is_not_there_costs_a_hash_like_who_is()
    {
        var queue = new PasswordQueue(() => 10, new LimitRefusals());
        Assert.False(await queue.VerifyAsync(Guid.Empty, null, "anything", Cancel));
        Assert.False(await queue.VerifyAsync(Guid.Empty, null, "anything", Cancel));
        Assert.Equal(2, queue.Hashed);
    }

    [Fact]
    public async Task More_than_may_wait_are_refused_with_the_limits_name()
    {
        var queue = new PasswordQueue(() => 3, new LimitRefusals());
        Task<bool>[] tries = [.. Enumerable.Range(0, 40).Select(i => queue.VerifyAsync(Account, Hash, $"wrong-{i}", Cancel).AsTask())];
        await Task.WhenAny(Task.WhenAll(tries));
        BrokerException[] refused = [.. tries.Where(t => t.IsFaulted).Select(t => Assert.IsType<BrokerException>(t.Exception!.InnerException))];
        Assert.NotEmpty(refused);
        Assert.All(refused, e => Assert.Equal(ErrorCode.ResourceExhausted, e.Code));
        Assert.All(refused, e => Assert.Contains("MaxWaitingLogins", e.Message, StringComparison.Ordinal));
        Assert.All(tries.Where(t => !t.IsFaulted), t => Assert.False(t.Result));
    }

    [Fact]
    public async Task Who_gives_up_waiting_is_not_hashed()
    {
        var queue = new PasswordQueue(() => 100, new LimitRefusals());
        Task<bool>[] busy = [.. Enumerable.Range(0, PasswordQueue.AtOnce).Select(i => queue.VerifyAsync(Account, Hash, $"wrong-{i}", Cancel).AsTask())];
        using var gone = new CancellationTokenSource();
        Task<bool> waiting = queue.VerifyAsync(Account, Hash, "right-password", gone.Token).AsTask();
        await gone.CancelAsync();
        await Task.WhenAll(busy);
        await Task.WhenAny(waiting);
        Assert.True(waiting.IsCanceled || queue.Hashed > PasswordQueue.AtOnce, "it was not given up, and not hashed");
        Assert.True(waiting.IsCompleted);
    }
}
