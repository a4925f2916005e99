using System.Diagnostics.CodeAnalysis;

namespace LightQ.Client.Processing;

/// <summary>
/// Whether a processor takes messages: it works; or it is paused until a time; or it tries with one message whether it
/// works again.
/// </summary>
/// <remarks>
/// Thread-safe. Each change ends the subscription (a turn) once no handler has a message in hand. What was not begun
/// goes back before that, uncounted, and the next turn asks for as much as it is to get: nothing, one, or all.
/// </remarks>
[SuppressMessage(
    "Design",
    "CA1001",
    Justification = "A source without a timer or a wait handle holds nothing but memory."
)]
internal sealed class Circuit(TimeProvider time)
{
    /// <summary>The first pause, and the longest, where the handler says nothing of its length.</summary>
    private static readonly TimeSpan FirstPause = TimeSpan.FromSeconds(1),
        LongestPause = TimeSpan.FromSeconds(30);

    /// <summary>The longest of those that begin with what the handler says.</summary>
    private static readonly TimeSpan LongestAsked = TimeSpan.FromMinutes(5);

    /// <summary>For so long a trial without a message is not reported as works.</summary>
    private static readonly TimeSpan Doubt = TimeSpan.FromSeconds(1);

    private readonly Lock _gate = new();
    private CancellationTokenSource _turn = new();
    private Phase _phase;
    private bool _turns;
    private int _inHand;
    private int _number;
    private Exception? _reason;
    private TimeSpan _pause;
    private long _pausedAt;
    private long _openedAt;
    private long _triesSince;

    private enum Phase
    {
        Works,
        Paused,
        Tries,
    }

    /// <summary>Why nothing is handled; null while it is, as far as is known.</summary>
    public Exception? Failure
    {
        get
        {
            lock (_gate)
            {
                bool mayWork = _phase == Phase.Tries && _inHand == 0 && time.GetElapsedTime(_triesSince) > Doubt;
                return _phase == Phase.Works || mayWork ? null : _reason;
            }
        }
    }

    /// <summary>
    /// Whether the subscription begins nothing more, and is to end, or has ended, and the next has not begun.
    /// </summary>
    public bool Turns
    {
        get
        {
            lock (_gate)
                return _turns;
        }
    }

    /// <summary>Cancelled when the turn is over: it is to end, and nothing is in hand.</summary>
    public CancellationToken TurnOver
    {
        get
        {
            lock (_gate)
                return _turn.Token;
        }
    }

    /// <summary>How much is left of the pause; null when there is none.</summary>
    public TimeSpan? PauseLeft
    {
        get
        {
            lock (_gate)
                return _phase == Phase.Paused ? _pause - time.GetElapsedTime(_pausedAt) : null;
        }
    }

    /// <summary>How long it has not worked; for the log.</summary>
    public TimeSpan PausedFor => time.GetElapsedTime(Volatile.Read(ref _openedAt));

    /// <summary>Begins a turn. The one before is over, or its subscription was lost.</summary>
    /// <param name="number">Its number.</param>
    /// <param name="isTrial">Whether it is for one message only.</param>
    /// <returns>False if there is a pause by now.</returns>
    public bool TryBegin(out int number, out bool isTrial)
    {
        lock (_gate)
        {
            (number, isTrial) = (0, _phase == Phase.Tries);
            if (_phase == Phase.Paused)
                return false;
            if (_turn.IsCancellationRequested)
                _turn = new CancellationTokenSource();
            _turns = false;
            _triesSince = time.GetTimestamp();
            number = ++_number;
            return true;
        }
    }

    /// <summary>A handler is about to begin with a message of a turn.</summary>
    /// <returns>False when it may not; the message then goes back.</returns>
    public bool TryEnter(int turn)
    {
        lock (_gate)
        {
            if (turn != _number || _turns || _phase == Phase.Paused)
                return false;
            _inHand++;
            _turns = _phase == Phase.Tries; // A trial is of one message.
            return true;
        }
    }

    /// <summary>What <see cref="TryEnter"/> let in is settled, or kept for the end of its turn.</summary>
    /// <param name="works">Whether the handler did its work, as far as it goes; false if that is not known.</param>
    /// <returns>Whether the processor works again, with this.</returns>
    public bool Leave(bool works)
    {
        lock (_gate)
        {
            _inHand--;
            bool worksAgain = _phase == Phase.Tries && works;
            if (worksAgain)
                (_phase, _reason) = (Phase.Works, null);
            EndTurnIfIdle();
            return worksAgain;
        }
    }

    /// <summary>Nothing can be handled for now.</summary>
    /// <param name="reason">Why.</param>
    /// <param name="asked">For how long, if the handler says so.</param>
    /// <returns>How long the pause is, if the processor worked until now: to be logged once.</returns>
    public TimeSpan? Pause(Exception reason, TimeSpan? asked)
    {
        lock (_gate)
        {
            bool worked = _phase == Phase.Works;
            TimeSpan most = asked is null ? LongestPause : LongestAsked;
            TimeSpan grown = _pause * 2 < most ? _pause * 2 : most;
            TimeSpan wanted = asked ?? FirstPause;
            if (worked)
            {
                (_pause, _openedAt) = (wanted, time.GetTimestamp());
            }
            else if (_phase == Phase.Tries)
            {
                _pause = grown > wanted ? grown : wanted;
            }
            else
            {
                // Another handler of the same turn: the longer time counts, from now.
                _pause = _pause > wanted ? _pause : wanted;
            }
            (_phase, _reason, _pausedAt, _turns) = (Phase.Paused, reason, time.GetTimestamp(), true);
            EndTurnIfIdle();
            return worked ? _pause : null;
        }
    }

    /// <summary>The pause is over: the next turn is a trial.</summary>
    public void Try()
    {
        lock (_gate)
        {
            if (_phase == Phase.Paused)
                _phase = Phase.Tries;
        }
    }

    /// <summary>The processor stops.</summary>
    /// <returns>Whether it did not work.</returns>
    public bool Stop()
    {
        lock (_gate)
            return _phase != Phase.Works;
    }

    private void EndTurnIfIdle()
    {
        // Its callbacks run on the pool: not under this gate, and not on the handler's thread.
        if (_turns && _inHand == 0)
            _ = _turn.CancelAsync();
    }
}
