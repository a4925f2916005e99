using System.Globalization;
using Microsoft.Extensions.Logging;

namespace LightQ.Client.Processing;

/// <summary>Logs what fails in a processor so that messages which fail again and again do not fill the log.</summary>
/// <remarks>
/// The first failure of a kind is logged with its stack, the others with a line each, up to ten in ten seconds; how
/// many were left out is logged when these are over. Kinds are told apart by what threw what. So many are remembered;
/// all that come later count as one.
/// </remarks>
internal sealed class FailureLog : IDisposable
{
    private const int MostKinds = 32,
        MostLines = 10;
    private static readonly FailureKind LastDeliveries = new("last deliveries", null, null, 0);
    private static readonly TimeSpan Period = TimeSpan.FromSeconds(10);

    private readonly ILogger _logger;
    private readonly string _topic;
    private readonly string _group;
    private readonly Lock _gate = new();
    private readonly Dictionary<FailureKind, Seen> _kinds = new() { [LastDeliveries] = new Seen() };
    private readonly ITimer _timer;
    private bool _isCounting;

    /// <param name="logger">Where to log.</param>
    /// <param name="time">The clock.</param>
    /// <param name="topic">The processor's topic.</param>
    /// <param name="group">Its group.</param>
    public FailureLog(ILogger logger, TimeProvider time, string topic, string group)
    {
        (_logger, _topic, _group) = (logger, topic, group);
        _timer = time.CreateTimer(
            static log => ((FailureLog)log!).EndPeriod(),
            this,
            Timeout.InfiniteTimeSpan,
            Timeout.InfiniteTimeSpan
        );
    }

    private enum Turn
    {
        First,
        Again,
        LeftOut,
    }

    /// <summary>Something of the processor itself failed.</summary>
    /// <param name="exception">How.</param>
    /// <param name="source">Where.</param>
    /// <param name="message">With which message; null for none.</param>
    /// <param name="rule">What the options say of the message; null where the topic says it.</param>
    public void Processing(Exception exception, ProcessErrorSource source, Message? message, RetryRule? rule)
    {
        Turn turn = Count(FailureKind.Of(exception, source.ToString()), exception);
        if (turn == Turn.LeftOut)
            return;
        if (message is { } failed)
        {
            LoggedMessage logged = LoggedMessage.Of(failed);
            string next = source == ProcessErrorSource.Handler ? NextOf(failed, rule) : "";
            Processing(turn, exception, source, logged, next);
        }
        else if (turn == Turn.First)
        {
            ClientLog.ProcessorFailed(_logger, exception, source, _topic, _group);
        }
        else
        {
            ClientLog.ProcessorFailedAgain(_logger, source, _topic, _group, Line(exception));
        }
    }

    /// <summary>A handler has failed with the last delivery of a message, which becomes a dead letter.</summary>
    public void LastDelivery(Exception exception, in Message message)
    {
        if (Count(LastDeliveries, exception) == Turn.LeftOut)
            return;
        LoggedMessage logged = LoggedMessage.Of(message);
        ClientLog.LastDeliveryFailed(
            _logger,
            _topic,
            _group,
            logged.Partition,
            logged.Offset,
            logged.Key,
            logged.Id,
            logged.Delivery,
            Line(exception)
        );
    }

    /// <summary>Something that the application gave the processor to call threw.</summary>
    public void Handler(Exception exception, string name)
    {
        switch (Count(FailureKind.Of(exception, name), exception))
        {
            case Turn.First:
                ClientLog.HandlerFailed(_logger, exception, name);
                break;
            case Turn.Again:
                ClientLog.HandlerFailedAgain(_logger, name, Line(exception));
                break;
        }
    }

    /// <summary>Logs what was left out.</summary>
    public void Dispose()
    {
        _timer.Dispose();
        EndPeriod();
    }

    /// <summary>An exception in one line of bounded length.</summary>
    private static string Line(Exception exception)
    {
        const int MostCharacters = 300;
        string line = $"{exception.GetType().Name}: {exception.Message.ReplaceLineEndings(" ")}";
        return line.Length <= MostCharacters ? line : line[..MostCharacters];
    }

    /// <summary>What becomes of a message that its handler has failed with, as far as that is known.</summary>
    private static string NextOf(in Message message, RetryRule? rule)
    {
        if (rule is { Delay: null })
            return "It is dead-lettered.";
        if (message.DeliveryLock.Terms is not { } terms)
            return "";
        return terms.DelayAfter(message.DeliveryCount) is { } delay
            ? string.Create(
                CultureInfo.InvariantCulture,
                $"It is redelivered in {(rule?.Delay ?? delay).TotalSeconds:0.###} s."
            )
            : "That was its last delivery.";
    }

    private void Processing(
        Turn turn,
        Exception exception,
        ProcessErrorSource source,
        in LoggedMessage message,
        string next
    )
    {
        if (turn == Turn.First)
        {
            ClientLog.ProcessingFailed(
                _logger,
                exception,
                source,
                _topic,
                _group,
                message.Partition,
                message.Offset,
                message.Key,
                message.Id,
                message.Delivery,
                next
            );
        }
        else
        {
            ClientLog.ProcessingFailedAgain(
                _logger,
                source,
                _topic,
                _group,
                message.Partition,
                message.Offset,
                message.Key,
                message.Id,
                message.Delivery,
                Line(exception),
                next
            );
        }
    }

    private Turn Count(FailureKind kind, Exception exception)
    {
        lock (_gate)
        {
            if (!_isCounting)
            {
                _isCounting = true;
                _timer.Change(Period, Timeout.InfiniteTimeSpan);
            }
            if (!_kinds.ContainsKey(kind) && _kinds.Count > MostKinds)
                kind = FailureKind.Other;
            bool isFirst = !_kinds.TryGetValue(kind, out Seen? seen);
            if (isFirst)
                _kinds.Add(kind, seen = new Seen());
            if (seen!.Lines >= MostLines)
            {
                (seen.LeftOut, seen.Last) = (seen.LeftOut + 1, exception);
                return Turn.LeftOut;
            }
            seen.Lines++;
            return isFirst ? Turn.First : Turn.Again;
        }
    }

    private void EndPeriod()
    {
        List<(string What, int LeftOut, Exception Last)> left = [];
        lock (_gate)
        {
            _isCounting = false;
            foreach ((FailureKind kind, Seen seen) in _kinds)
            {
                if (seen.LeftOut > 0)
                    left.Add((kind.What, seen.LeftOut, seen.Last!));
                (seen.Lines, seen.LeftOut, seen.Last) = (0, 0, null);
            }
        }
        foreach ((string what, int leftOut, Exception last) in left)
            ClientLog.FailuresLeftOut(_logger, leftOut, _topic, _group, what, Line(last));
    }

    private sealed class Seen
    {
        public int Lines { get; set; }

        public int LeftOut { get; set; }

        public Exception? Last { get; set; }
    }
}
