using System.Collections.Concurrent;
using System.Runtime.CompilerServices;
using LightQ.Broker.Groups;
using LightQ.Broker.Topics;
using LightQ.Protocol;

namespace LightQ.Broker.DeadLetters;

/// <summary>Moves messages to their dead-letter topics. Thread-safe.</summary>
internal sealed class DeadLetterOffice : IDeadLetterSink, IAsyncDisposable
{
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
    public static string TopicOf(Topic topic) => TopicOf(topic.Name, topic.Settings);

    /// <summary>The name of the dead-letter topic that a topic has or would have.</summary>
    public static string TopicOf(string topic, TopicSettings settings) =>
        settings.Delivery.DeadLetterTopic is { Length: > 0 } named ? named : topic + TopicName.DeadLetterSuffix;

    /// <summary>
    /// Rejects a durable topic's name, if the name of its dead-letter topic would not be valid.
    /// </summary>
    /// <exception cref="BrokerException">It is too long: <see cref="ErrorCode.InvalidArgument"/>.</exception>
    public static void DemandName(string topic, TopicSettings settings)
    {
        int longest = TopicName.MaxLength - TopicName.DeadLetterSuffix.Length;
        if (
            settings.Kind == TopicKind.Durable
            && settings.Delivery.DeadLetterTopic.Length == 0
            && topic.Length > longest
        )
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The topic name has {topic.Length} characters, and with '{TopicName.DeadLetterSuffix}' behind it, "
                    + $"as its dead-letter topic is called, more than a name may have ({TopicName.MaxLength}); "
                    + $"allowed: {longest}, or set dead_letter_topic."
            );
        }
    }

    /// <summary>Rejects a topic, new or changed, by which letters would get to a transient topic.</summary>
    /// <remarks>They would wait for ever, as nothing stores them there.</remarks>
    /// <param name="name">The topic's name.</param>
    /// <param name="settings">What it is to have.</param>
    /// <param name="topics">The topics by their names.</param>
    /// <exception cref="BrokerException">It is one: <see cref="ErrorCode.InvalidArgument"/>.</exception>
    public static void DemandDurable(string name, TopicSettings settings, IReadOnlyDictionary<string, Topic> topics)
    {
        if (settings.Kind == TopicKind.Durable)
        {
            string dead = TopicOf(name, settings);
            if (topics.TryGetValue(dead, out Topic? existing) && existing.Settings.Kind == TopicKind.Transient)
            {
                throw new BrokerException(
                    ErrorCode.InvalidArgument,
                    $"The dead letters of '{name}' would go to '{dead}', which is transient and cannot keep them; "
                        + $"allowed: a durable topic. Set dead_letter_topic to another name, or delete '{dead}'."
                );
            }
            return;
        }
        Topic? origin = topics.Values.FirstOrDefault(t => t.Settings.Kind == TopicKind.Durable && TopicOf(t) == name);
        if (origin is not null)
        {
            throw new BrokerException(
                ErrorCode.InvalidArgument,
                $"The dead letters of '{origin.Name}' go to '{name}', and a transient topic cannot keep them; allowed: "
                    + $"a durable topic."
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
