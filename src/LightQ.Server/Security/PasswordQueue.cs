using System.Collections.Concurrent;
using System.Diagnostics;
using System.Net;
using System.Runtime.InteropServices;
using System.Security.Cryptography;
using System.Text;
using LightQ.Broker;
using LightQ.Broker.Users;
using LightQ.Server.Limits;
using LightQ.Storage.Files;

namespace LightQ.Server.Security;

/// <summary>Hashes passwords, two at a time, and remembers which were right.</summary>
/// <remarks>
/// A hash takes a core for a tenth of a second and more. However many passwords are tried, two threads that yield to
/// others do it, what waits is bounded, and the clients that try take turns: those whose last password was wrong with
/// all others, then by their addresses, and of an address by the accounts that they name. So guesses wait behind other
/// guesses, and from an address with guessers each other account is still let in. Behind a wrong password one thread
/// goes on alone, and rests five times as long as it hashed: guessing gets a sixth of a processor. What was right once
/// is remembered under a key of this process: a thousand clients that come back at once are not hashed again.
/// Thread-safe.
/// </remarks>
internal sealed partial class PasswordQueue(Func<int> maxWaiting, LimitRefusals refusals)
{
    /// <summary>Most threads that hash at the same time.</summary>
    public const int AtOnce = 2;

    /// <summary>How many times as long as a wrong password took to hash nothing is hashed behind it.</summary>
    public const int Rest = 5;

    /// <summary>Accounts that are remembered; with more, remembering begins anew.</summary>
    private const int MostRemembered = 100_000;

    /// <summary>
    /// Stands for the password of a user that does not exist: it must not be rejected sooner than one that does.
    /// </summary>
    private static readonly Lazy<string> Nobody = new(() =>
        PasswordHash.Create(Convert.ToBase64String(RandomNumberGenerator.GetBytes(16)))
    );

    private readonly byte[] _key = RandomNumberGenerator.GetBytes(32);
    private readonly ConcurrentDictionary<Guid, byte[]> _right = new();
    private readonly FairQueue<Waiting> _waiting = new();

    /// <summary>Who has shown a wrong password last, for which account. Guarded by the queue.</summary>
    private readonly HashSet<(IPAddress Address, Guid Account)> _guessers = [];
    private int _threads;
    private int _hashed;

    /// <summary>Whether the last password was wrong.</summary>
    private volatile bool _isGuessed;

    /// <summary>
    /// A third of a usual thread's share: logins go on, slower, on a machine that has nothing to spare.
    /// </summary>
    private const int LowPriority = 5;

    /// <summary>Passwords hashed so far.</summary>
    public int Hashed => _hashed;

    /// <summary>How many threads there may be now.</summary>
    private int MostThreads => _isGuessed ? 1 : AtOnce;

    /// <summary>Checks a password.</summary>
    /// <param name="origin">Who shows it.</param>
    /// <param name="account">Whose it would be.</param>
    /// <param name="hash">
    /// What is kept of it; null when there is no such account or it has no password, which takes as long.
    /// </param>
    /// <param name="password">What was shown.</param>
    /// <param name="cancellationToken">Gives up the wait.</param>
    /// <exception cref="BrokerException">Too many wait: <see cref="ErrorCode.ResourceExhausted"/>.</exception>
    public async ValueTask<bool> VerifyAsync(
        Origin origin,
        Guid account,
        string? hash,
        string password,
        CancellationToken cancellationToken
    )
    {
        byte[] mac = HMACSHA256.HashData(_key, Encoding.UTF8.GetBytes($"{hash}\0{password}"));
        return IsRight(account, mac)
            || await EnqueueAsync(
                    origin,
                    account,
                    () => IsRight(account, mac) || Verify(origin, account, hash, password, mac),
                    cancellationToken
                )
                .ConfigureAwait(false);
    }

    /// <summary>Hashes a new password, for a caller that may set one.</summary>
    /// <exception cref="BrokerException">Too many wait: <see cref="ErrorCode.ResourceExhausted"/>.</exception>
    public Task<string> CreateAsync(string password, CancellationToken cancellationToken) =>
        EnqueueAsync(Origin.Broker, Guid.Empty, () => Count(PasswordHash.Create(password)), cancellationToken);

    private bool IsRight(Guid account, byte[] mac) =>
        _right.TryGetValue(account, out byte[]? right) && CryptographicOperations.FixedTimeEquals(right, mac);

    private bool Verify(Origin origin, Guid account, string? hash, string password, byte[] mac)
    {
        bool isRight = Count(PasswordHash.Verify(hash ?? Nobody.Value, password)) && hash is not null;
        _isGuessed = !isRight;
        Remember((PeerNetwork.Of(origin.Remote), account), isRight);
        if (!isRight)
            return false;
        if (_right.Count >= MostRemembered)
            _right.Clear();
        _right[account] = mac;
        return true;
    }

    private void Remember((IPAddress, Guid) guesser, bool isRight)
    {
        lock (_waiting)
        {
            if (isRight)
            {
                _guessers.Remove(guesser);
                return;
            }
            if (_guessers.Count >= MostRemembered)
                _guessers.Clear();
            _guessers.Add(guesser);
        }
    }

    private T Count<T>(T hashed)
    {
        Interlocked.Increment(ref _hashed);
        return hashed;
    }

    private async Task<T> EnqueueAsync<T>(
        Origin origin,
        Guid account,
        Func<T> work,
        CancellationToken cancellationToken
    )
    {
        var done = new TaskCompletionSource<T>(TaskCreationOptions.RunContinuationsAsynchronously);
        IPAddress network = PeerNetwork.Of(origin.Remote);
        lock (_waiting)
        {
            object[] path = Mutation.TurnsByAddress
                ? [true, network, Guid.Empty]
                : [_guessers.Contains((network, account)), network, account];
            int most = maxWaiting();
            if (_waiting.Count >= most)
            {
                BrokerException refused = refusals.Exhausted(
                    nameof(LightQServerOptions.MaxWaitingLogins),
                    most,
                    $"{_waiting.Count} passwords wait to be checked"
                );
                if (!_waiting.TryDisplace(out Waiting displaced, path))
                    throw refused;
                displaced.Refuse(refused);
            }
            _waiting.Enqueue(
                new Waiting(() => Complete(done, work, cancellationToken), e => done.TrySetException(e)),
                path
            );
            StartThread();
        }
        return await done.Task.ConfigureAwait(false);
    }

    private static void Complete<T>(TaskCompletionSource<T> done, Func<T> work, CancellationToken cancellationToken)
    {
        if (cancellationToken.IsCancellationRequested)
        {
            done.TrySetCanceled(cancellationToken);
            return;
        }
        try
        {
            done.TrySetResult(work());
        }
#pragma warning disable CA1031 // It is thrown where the password was shown.
        catch (Exception e)
#pragma warning restore CA1031
        {
            done.TrySetException(e);
        }
    }

    /// <summary>Starts another thread if something waits that it may hash. Under the lock.</summary>
    private void StartThread()
    {
        if (_waiting.Count == 0 || _threads >= MostThreads)
            return;
        _threads++;
        new Thread(HashAll) { IsBackground = true, Name = "lightq-passwords" }.Start();
    }

    /// <summary>Hashes until nothing waits.</summary>
    /// <remarks>
    /// What it costs others, as the p99 of 1,000 messages a second on two virtual processors, 0.2 ms in peace: 5.6 to
    /// 6.0 ms with two threads that do not rest (1.4 to 1.6 if they get nothing but idle time, SCHED_IDLE), 0.2 to 0.6
    /// with one that rests as long as it hashed, 0.3 with one that rests three times as long. Beside twenty guessers in
    /// processes of their own (row S3.logins of docs/measured/faults.md), as times of the p99 in peace: 1.6 with rests
    /// of three times (0.23 ms beside 0.15), 1.3 of seven (0.19 beside 0.15); longer ones than five make those wait too
    /// long who log in from where others guess.
    /// </remarks>
    private void HashAll()
    {
        YieldToOthers();
        while (true)
        {
            Waiting next;
            lock (_waiting)
            {
                if (_threads > MostThreads || !_waiting.TryDequeue(out next))
                {
                    _threads--;
                    return;
                }
                StartThread();
            }
            long began = Stopwatch.GetTimestamp();
            next.Hash();
            if (_isGuessed)
                Thread.Sleep(Rest * Stopwatch.GetElapsedTime(began));
        }
    }

    /// <summary>
    /// The calling thread gets less than others, and is preempted by them when they wake: a flood of wrong passwords
    /// does not hold up messages.
    /// </summary>
    private static void YieldToOthers()
    {
        if (OperatingSystem.IsLinux())
            // .NET's own priorities do nothing on Linux. A refusal costs fairness, nothing else.
            _ = SetPriority(which: 0, who: 0, LowPriority);
        else
            Thread.CurrentThread.Priority = ThreadPriority.BelowNormal;
    }

    [LibraryImport("libc", EntryPoint = "setpriority")]
    private static partial int SetPriority(int which, int who, int priority);

    /// <summary>
    /// A password that waits: what hashes it, and what reports to its client that it will not be hashed.
    /// </summary>
    private readonly record struct Waiting(Action Hash, Action<BrokerException> Refuse);
}
