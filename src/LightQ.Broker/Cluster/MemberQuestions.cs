using System.Collections.Concurrent;

namespace LightQ.Broker.Cluster;

/// <summary>Questions between nodes over a channel that loses some: asked again, and answered as often.</summary>
internal sealed class MemberQuestions(
    MemberOptions options,
    TimeProvider time,
    Func<MemberCommand?, MemberAnswer?, Task> send
)
{
    /// <summary>Commands that are remembered, so that one that comes again is not done again.</summary>
    private const int Remembered = 256;

    private readonly ConcurrentDictionary<Guid, TaskCompletionSource<MemberAnswer>> _asked = new();
    private readonly Lock _lock = new();
    private readonly Dictionary<Guid, Task> _done = [];
    private readonly Queue<Guid> _order = new();

    /// <summary>Asks another node until it answers.</summary>
    /// <returns>What became of it.</returns>
    public async Task<MemberAnswer> AskAsync(MemberCommand command, CancellationToken cancellationToken)
    {
        var answer = new TaskCompletionSource<MemberAnswer>(TaskCreationOptions.RunContinuationsAsynchronously);
        _asked[command.Id] = answer;
        try
        {
            long began = time.GetTimestamp();
            while (time.GetElapsedTime(began) < options.AnswerTimeout)
            {
                await send(command, null).ConfigureAwait(false);
                await ((Task)answer.Task)
                    .WaitAsync(options.AskAgain, time, cancellationToken)
                    .ConfigureAwait(ConfigureAwaitOptions.SuppressThrowing);
                cancellationToken.ThrowIfCancellationRequested();
                if (answer.Task.IsCompleted)
                    return await answer.Task.ConfigureAwait(false);
            }
            return new MemberAnswer(
                command.Id,
                $"the node {command.Node} has not answered within {options.AnswerTimeout.TotalSeconds} s"
            );
        }
        finally
        {
            _asked.TryRemove(command.Id, out _);
        }
    }

    /// <summary>Another node answered.</summary>
    public void OnAnswer(MemberAnswer answer)
    {
        if (_asked.TryGetValue(answer.Id, out TaskCompletionSource<MemberAnswer>? asked))
            asked.TrySetResult(answer);
    }

    /// <summary>Another node asks.</summary>
    public void OnCommand(MemberCommand command, Func<MemberCommand, Task<MemberAnswer>> execute)
    {
        lock (_lock)
        {
            if (_done.TryGetValue(command.Id, out Task? done))
            {
                if (done is Task<MemberAnswer> { IsCompletedSuccessfully: true } answered)
                    _ = send(null, answered.Result);
                return;
            }
            _done[command.Id] = AnswerAsync(command, execute);
            _order.Enqueue(command.Id);
            if (_order.Count > Remembered)
                _done.Remove(_order.Dequeue());
        }
    }

    private async Task<MemberAnswer> AnswerAsync(MemberCommand command, Func<MemberCommand, Task<MemberAnswer>> execute)
    {
        await Task.Yield();
        MemberAnswer answer = await execute(command).ConfigureAwait(false);
        await send(null, answer).ConfigureAwait(false);
        return answer;
    }
}
