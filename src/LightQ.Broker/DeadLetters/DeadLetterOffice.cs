using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Protocol;

namespace LightQ.Broker.DeadLetters;

/// <summary>Moves messages to their dead-letter topics. Thread-safe.</summary>
internal sealed class DeadLetterOffice : IDeadLetterSink, IAsyncDisposable
{
    /// <summary>What a dead-letter topic is called behind its topic's name.</summary>
    public const string Suffix = ".dead";

    private readonly ConcurrentDictionary<string, DeadLetterQueue> _queues = new(StringComparer.Ordinal);
    private readonly ConditionalWeakTable<Topic, LetterIndex> _letters = [];
    private readonly CancellationTokenSource _stopping = new();
    private readonly CancellationToken _stopped;
    private readonly LightQBroker _broker;
    private readonly TimeProvider _time;

    public DeadLetterOffice(LightQBroker broker, TimeProvider time)
    {
        (_broker, _time) = (broker, time);
        _stopped = _stopping.Token; // Housekeeping may ask when the source is disposed.
    }

    /// <summary>The name of a topic's dead-letter topic.</summary>
    public static string TopicOf(Topic topic) =>
        topic.Settings.Delivery.DeadLetterTopic is { Length: > 0 } named ? named : topic.Name + Suffix;

    /// <summary>
    /// Rejects a durable topic's name, if the name of its dead-letter topic would not be valid.
    /// </summary>
    /// <exception cref="BrokerException">It is too long: <see cref="ErrorCode.InvalidArgument"/>.</exception>
    public static void DemandName(string topic, TopicSettings settings)
    {
        int longest = TopicName.MaxLength - Suffix.Length;
        if (
            settings.Kind == TopicKind.Durable
            && settings.Delivery.DeadLetterTopic.Length == 0
            && topic.Length > longest
        )
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The topic name has {topic.Length} characters, and with '{Suffix}' behind it, as its dead-letter "
                    + $"topic is called, more than a name may have ({TopicName.MaxLength}); allowed: {longest}, or "
                    + $"set dead_letter_topic."
            );
        }
    }

    /// <inheritdoc/>
    public void Send(ExplicitGroup group, RedeliveryRange range, string reason) =>
        _queues
            .GetOrAdd(TopicOf(group.Partition.Topic), static (name, office) => office.MakeQueue(name), this)
            .Add(new DeadLetter(group, range, reason));

    /// <summary>Why letters to a topic wait; null when they do not.</summary>
    public string? FailureOf(string topic) =>
        _queues.TryGetValue(topic, out DeadLetterQueue? queue) ? queue.Failure : null;

    /// <summary>Where the originals of a topic's letters lie; null when it has none.</summary>
    /// <param name="origin">The topic whose messages were dead-lettered.</param>
    /// <param name="known">Called, on the pool, when letters are known that are not yet.</param>
    public LetterIndex? LettersOf(Topic origin, Action known)
    {
        if (!_broker.TryGetTopic(TopicOf(origin), out Topic? dead))
            return null;
        LetterIndex letters = _letters.GetValue(dead, topic => new LetterIndex(topic, _broker));
        letters.BeginReading(origin, known, _stopped);
        return letters;
    }

    /// <summary>Letters are safe, and their originals not yet settled.</summary>
    /// <param name="dead">Where they are.</param>
    /// <param name="letter">The letters.</param>
    /// <param name="end">Where that topic ends, as another node has said; null where it is here.</param>
    public void OnStored(Topic dead, in DeadLetter letter, long? end)
    {
        // An index that is made from now on reads these letters from the topic.
        if (_letters.TryGetValue(dead, out LetterIndex? letters))
            letters.Add(letter.Group.Partition, letter.Group.Name, letter.Range.First, letter.Range.Count, end);
    }

    /// <summary>Ends the taking; what is not safe by now stays unsettled in its group.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stopping.CancelAsync().ConfigureAwait(false);
        await Task.WhenAll(_queues.Values.Select(q => q.Ended).Concat(_letters.Select(l => l.Value.Reading)))
            .ConfigureAwait(false);
        _stopping.Dispose();
    }

    private DeadLetterQueue MakeQueue(string topic) => new(_broker, this, _time, topic, _stopped);
}
