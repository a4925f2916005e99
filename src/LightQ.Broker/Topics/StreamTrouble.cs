using LightQ.Broker.Cluster;

namespace LightQ.Broker.Topics;

/// <summary>
/// What a node has found wrong with the stream of one partition, and what operators ask about it. Thread-safe.
/// </summary>
/// <param name="conditions">Where it is said.</param>
/// <param name="topic">The topic.</param>
/// <param name="index">The partition's number.</param>
/// <param name="time">The clock.</param>
/// <param name="asked">Called when an operator asks or wishes something.</param>
internal sealed class StreamTrouble(
    ClusterConditions conditions,
    Topic topic,
    uint index,
    TimeProvider time,
    Action asked
)
{
    /// <summary>A claim fails so long for what a stream lacks before that is believed.</summary>
    private static readonly TimeSpan Doubt = TimeSpan.FromMilliseconds(500);

    private readonly Lock _lock = new();
    private readonly string _subject = $"{topic.Name}/{index}";
    private readonly List<TaskCompletionSource<PartitionCopy>> _asked = [];
    private string _loss = "";
    private string _failure = "";
    private long? _doubted;
    private bool _isWanted;
    private bool _isRepairing;

    /// <summary>Whether the stream has lost something.</summary>
    public bool IsThere
    {
        get
        {
            lock (_lock)
                return _loss.Length != 0;
        }
    }

    /// <summary>Whether the stream is to be written anew.</summary>
    public bool IsRepairWanted
    {
        get
        {
            lock (_lock)
                return _isWanted;
        }
    }

    /// <summary>What clients get to read.</summary>
    public string Reason =>
        $"its replicated log has lost something, and it takes no messages until 'lightq cluster repair {topic.Name}' "
        + "has written that anew";

    /// <summary>A claim came to nothing for what the stream lacks.</summary>
    /// <returns>Whether that is believed.</returns>
    public bool Suspect(string loss)
    {
        lock (_lock)
        {
            _doubted ??= time.GetTimestamp();
            if (_loss.Length == 0 && time.GetElapsedTime(_doubted.Value) < Doubt)
                return false;
        }
        Find(loss);
        return true;
    }

    /// <summary>The stream lacks something.</summary>
    /// <returns>Whether that is news.</returns>
    public bool Find(string loss)
    {
        bool isNews;
        lock (_lock)
        {
            isNews = _loss.Length == 0;
            _loss = loss;
        }
        conditions.Begin(
            ConditionKind.StreamDamaged,
            _subject,
            loss.TrimEnd('.'),
            $"It takes no messages until 'lightq cluster repair {topic.Name}' has written its log anew, from the "
                + "longest copy of the brokers. See docs/operate/cluster.md.",
            topic.Name
        );
        return isNews;
    }

    /// <summary>The partition was claimed, or another node leads it, or it is gone: the stream is whole.</summary>
    public void End()
    {
        lock (_lock)
            (_loss, _doubted, _isWanted) = ("", null, false);
        conditions.End(ConditionKind.StreamDamaged, _subject);
    }

    /// <summary>An operator wishes that the stream is written anew.</summary>
    public void WantRepair()
    {
        lock (_lock)
            (_isWanted, _failure) = (true, "");
        asked();
    }

    /// <summary>That begins.</summary>
    public void BeginRepair()
    {
        lock (_lock)
            (_isWanted, _isRepairing) = (false, true);
    }

    /// <summary>It has ended.</summary>
    /// <param name="failure">Why it has come to nothing; empty when it has not.</param>
    public void EndRepair(string failure)
    {
        lock (_lock)
            (_isRepairing, _failure) = (false, failure);
    }

    /// <summary>
    /// What this node holds, and knows of the stream, from <see cref="Answer"/>; null when that does not come in time.
    /// </summary>
    public async Task<PartitionCopy?> InspectAsync(TimeSpan timeout)
    {
        var question = new TaskCompletionSource<PartitionCopy>(TaskCreationOptions.RunContinuationsAsynchronously);
        lock (_lock)
        {
            if (_isRepairing)
                return new PartitionCopy(_loss, 0, 0, IsRepairing: true);
            _asked.Add(question);
        }
        asked();
        try
        {
            return await question.Task.WaitAsync(timeout, time).ConfigureAwait(false);
        }
        catch (TimeoutException)
        {
            return null;
        }
    }

    /// <summary>Answers those that have asked, if any has.</summary>
    /// <param name="read">Finds out what this node holds.</param>
    public void Answer(Func<PartitionCopy> read)
    {
        TaskCompletionSource<PartitionCopy>[] questions;
        string loss,
            failure;
        lock (_lock)
        {
            if (_asked.Count == 0 || _isWanted)
                return; // What was asked for is done first.
            questions = [.. _asked];
            _asked.Clear();
            (loss, failure) = (_loss, _failure);
        }
        PartitionCopy copy = read() with { Loss = loss, Failure = failure };
        foreach (TaskCompletionSource<PartitionCopy> one in questions)
            one.SetResult(copy);
    }
}
