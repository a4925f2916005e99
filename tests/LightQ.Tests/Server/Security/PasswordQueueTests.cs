using System.Diagnostics;
using System.Net;
using System.Security.Cryptography;
using LightQ.Broker;
using LightQ.Broker.Users;
using LightQ.Client;
using LightQ.Server.Security;
using Xunit;

namespace LightQ.Tests.Server.Security;

public sealed class PasswordQueueTests
{
    private static readonly string Hash = Cheap("right-password");
    private static readonly Guid Account = Guid.NewGuid();

    private static CancellationToken Cancel => TestContext.Current.CancellationToken;

    /// <summary>A hash as it is kept, of a tenth of the usual iterations.</summary>
    private static string Cheap(string password)
    {
        const int Iterations = PasswordHash.Iterations / 10;
        byte[] salt = RandomNumberGenerator.GetBytes(16);
        byte[] hash = Rfc2898DeriveBytes.Pbkdf2(password, salt, Iterations, HashAlgorithmName.SHA256, 32);
        return PasswordHash.Format(PasswordHash.Algorithm, Iterations, salt, hash);
    }

    [Fact]
    public async Task A_right_password_is_hashed_once_however_many_show_it_at_once()
    {
        var queue = new PasswordQueue(() => 1000, new LimitRefusals());
        bool[] right = await Task.WhenAll(
            Enumerable
                .Range(0, 200)
                .Select(_ => queue.VerifyAsync(Origin.Broker, Account, Hash, "right-password", Cancel).AsTask())
        );
        Assert.All(right, Assert.True);
        Assert.InRange(queue.Hashed, 1, PasswordQueue.AtOnce);
        Assert.True(await queue.VerifyAsync(Origin.Broker, Account, Hash, "right-password", Cancel));
        Assert.InRange(queue.Hashed, 1, PasswordQueue.AtOnce);
    }

    [Fact]
    public async Task What_is_remembered_is_this_password_of_this_hash_and_nothing_else()
    {
        var queue = new PasswordQueue(() => 10, new LimitRefusals());
        Assert.True(await queue.VerifyAsync(Origin.Broker, Account, Hash, "right-password", Cancel));
        Assert.False(await queue.VerifyAsync(Origin.Broker, Account, Hash, "wrong-password", Cancel));
        Assert.False(
            await queue.VerifyAsync(Origin.Broker, Account, Cheap("another-password"), "right-password", Cancel)
        );
        Assert.False(await queue.VerifyAsync(Origin.Broker, Account, null, "right-password", Cancel));
        Assert.True(await queue.VerifyAsync(Origin.Broker, Account, Hash, "right-password", Cancel));
    }

    [Fact]
    public async Task Who_is_not_there_costs_a_hash_like_who_is()
    {
        var queue = new PasswordQueue(() => 10, new LimitRefusals());
        Assert.False(await queue.VerifyAsync(Origin.Broker, Guid.Empty, null, "anything", Cancel));
        Assert.False(await queue.VerifyAsync(Origin.Broker, Guid.Empty, null, "anything", Cancel));
        Assert.Equal(2, queue.Hashed);
    }

    [Fact]
    public async Task More_than_may_wait_are_refused_with_the_limits_name()
    {
        var queue = new PasswordQueue(() => 3, new LimitRefusals());
        Task<bool>[] tries =
        [
            .. Enumerable
                .Range(0, 40)
                .Select(i => queue.VerifyAsync(Origin.Broker, Account, Hash, $"wrong-{i}", Cancel).AsTask()),
        ];
        await Task.WhenAny(Task.WhenAll(tries));
        BrokerException[] refused =
        [
            .. tries.Where(t => t.IsFaulted).Select(t => Assert.IsType<BrokerException>(t.Exception!.InnerException)),
        ];
        Assert.NotEmpty(refused);
        Assert.All(refused, e => Assert.Equal(ErrorCode.ResourceExhausted, e.Code));
        Assert.All(refused, e => Assert.Contains("MaxWaitingLogins", e.Message, StringComparison.Ordinal));
        Assert.All(tries.Where(t => !t.IsFaulted), t => Assert.False(t.Result));
    }

    [Fact]
    public async Task Who_gives_up_waiting_is_not_hashed()
    {
        var queue = new PasswordQueue(() => 100, new LimitRefusals());
        Task<bool>[] busy =
        [
            .. Enumerable
                .Range(0, PasswordQueue.AtOnce)
                .Select(i => queue.VerifyAsync(Origin.Broker, Account, Hash, $"wrong-{i}", Cancel).AsTask()),
        ];
        using var gone = new CancellationTokenSource();
        Task<bool> waiting = queue.VerifyAsync(Origin.Broker, Account, Hash, "right-password", gone.Token).AsTask();
        await gone.CancelAsync();
        await Task.WhenAll(busy);
        await Task.WhenAny(waiting);
        Assert.True(waiting.IsCanceled || queue.Hashed > PasswordQueue.AtOnce, "it was not given up, and not hashed");
        Assert.True(waiting.IsCompleted);
    }

    [Fact]
    public async Task Whoever_guesses_does_not_make_others_wait()
    {
        var queue = new PasswordQueue(() => 100, new LimitRefusals());
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        Task<bool>[] guesses =
        [
            .. Enumerable
                .Range(0, 20)
                .Select(i => queue.VerifyAsync(From(1, port: i), Account, Hash, $"wrong-{i}", enough.Token).AsTask()),
        ];
        Assert.True(await queue.VerifyAsync(From(2, port: 0), Account, Hash, "right-password", Cancel));
        Assert.InRange(guesses.Count(g => g.IsCompleted), 0, 2 * PasswordQueue.AtOnce);
        await enough.CancelAsync();
        await Task.WhenAny(Task.WhenAll(guesses));
        Assert.All(guesses, g => Assert.True(g.IsCanceled || !g.Result));
    }

    [Fact]
    public async Task Whoever_guesses_at_one_account_does_not_make_others_of_its_own_address_wait()
    {
        var queue = new PasswordQueue(() => 100, new LimitRefusals());
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        Task<bool>[] guesses = Guess(queue, [.. Enumerable.Repeat(Guid.NewGuid(), 20)], enough.Token);
        Assert.True(await queue.VerifyAsync(From(1, port: 99), Account, Hash, "right-password", Cancel));
        Assert.InRange(guesses.Count(g => g.IsCompleted), 0, 2 * PasswordQueue.AtOnce);
        await EndAsync(enough, guesses);
    }

    [Fact]
    public async Task Whoever_guesses_at_all_accounts_waits_behind_one_that_does_not_guess()
    {
        var queue = new PasswordQueue(() => 100, new LimitRefusals());
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        Guid[] accounts = [.. Enumerable.Range(0, 8).Select(_ => Guid.NewGuid())];
        await Task.WhenAll(Guess(queue, accounts, Cancel));
        Task<bool>[] guesses = Guess(queue, [.. accounts, .. accounts, .. accounts], enough.Token);
        Assert.True(await queue.VerifyAsync(From(1, port: 99), Account, Hash, "right-password", Cancel));
        Assert.InRange(guesses.Count(g => g.IsCompleted), 0, 2 * PasswordQueue.AtOnce);
        await EndAsync(enough, guesses);
    }

    [Fact]
    public async Task Guesses_at_one_account_leave_a_place_to_others_of_their_own_address()
    {
        var queue = new PasswordQueue(() => 10, new LimitRefusals());
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        Task<bool>[] guesses = Guess(queue, [.. Enumerable.Repeat(Guid.NewGuid(), 30)], enough.Token);
        Assert.True(await queue.VerifyAsync(From(1, port: 99), Account, Hash, "right-password", Cancel));
        await EndAsync(enough, guesses);
    }

    [Fact]
    public async Task One_address_cannot_take_every_place_of_those_that_wait()
    {
        const int Places = 10;
        var queue = new PasswordQueue(() => Places, new LimitRefusals());
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(Cancel);
        Task<bool>[] guesses =
        [
            .. Enumerable
                .Range(0, 10 * Places)
                .Select(i => queue.VerifyAsync(From(1, port: i), Account, Hash, $"wrong-{i}", enough.Token).AsTask()),
        ];
        Assert.True(await queue.VerifyAsync(From(2, port: 0), Account, Hash, "right-password", Cancel));
        await enough.CancelAsync();
        await Task.WhenAny(Task.WhenAll(guesses));
        BrokerException[] refused =
        [
            .. guesses.Where(t => t.IsFaulted).Select(t => Assert.IsType<BrokerException>(t.Exception!.InnerException)),
        ];
        Assert.All(refused, e => Assert.Equal(ErrorCode.ResourceExhausted, e.Code));
        Assert.InRange(refused.Length, guesses.Length - Places - PasswordQueue.AtOnce - 10, guesses.Length);
    }

    [Fact]
    public async Task Wrong_passwords_are_hashed_one_at_a_time_and_with_rests()
    {
        var queue = new PasswordQueue(() => 100, new LimitRefusals());
        const int Guesses = 4;
        TimeSpan before = TimeOfOne();
        long began = Stopwatch.GetTimestamp();
        await Task.WhenAll(
            Enumerable
                .Range(0, Guesses)
                .Select(i => queue.VerifyAsync(From(1, port: i), Account, Hash, $"wrong-{i}", Cancel).AsTask())
        );
        TimeSpan took = Stopwatch.GetElapsedTime(began);
        TimeSpan after = TimeOfOne(); // The machine's speed changes, with what else it does.
        TimeSpan one = before < after ? before : after;
        Assert.True(
            took > 0.8 * one * (1 + ((Guesses - 2) * (1 + PasswordQueue.Rest))),
            $"{Guesses} took {took}, one {one}"
        ); // The first two may have begun together.
    }

    private static Task<bool>[] Guess(PasswordQueue queue, Guid[] accounts, CancellationToken cancelled) =>
        [.. accounts.Select((a, i) => queue.VerifyAsync(From(1, port: i), a, Hash, $"wrong-{i}", cancelled).AsTask())];

    private static async Task EndAsync(CancellationTokenSource guessing, Task<bool>[] guesses)
    {
        await guessing.CancelAsync();
        await Task.WhenAny(Task.WhenAll(guesses));
    }

    private static TimeSpan TimeOfOne() =>
        Enumerable
            .Range(0, 3)
            .Min(_ =>
            {
                long began = Stopwatch.GetTimestamp();
                PasswordHash.Verify(Hash, "wrong");
                return Stopwatch.GetElapsedTime(began);
            });

    private static Origin From(byte host, int port) =>
        new("data", new IPEndPoint(new IPAddress([10, 0, 0, host]), port));
}
