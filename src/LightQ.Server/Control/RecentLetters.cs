using System.Security.Cryptography;

namespace LightQ.Server.Control;

/// <summary>
/// The batches of letters that other nodes have brought not long ago: one whose answer was lost is brought again, and
/// is not stored again. Thread-safe.
/// </summary>
/// <remarks>
/// The node that brings letters searches the topic for them before it comes again. It does not find what is still on
/// its way into the log, which is what this is for.
/// </remarks>
internal sealed class RecentLetters
{
    private const int Most = 256;

    private readonly Lock _lock = new();
    private readonly Dictionary<(Guid Topic, string Digest), Task> _batches = [];
    private readonly Queue<(Guid Topic, string Digest)> _byAge = new();

    /// <summary>Stores a batch, unless the same one is being stored or was stored not long ago.</summary>
    /// <param name="topic">The dead-letter topic.</param>
    /// <param name="batch">The batch; its letters have the time of the first try, so no other one is the same.</param>
    /// <param name="store">Stores it.</param>
    /// <returns>Completes when it is stored.</returns>
    public Task StoreOnceAsync(Guid topic, ReadOnlySpan<byte> batch, Func<Task> store)
    {
        (Guid, string) key = (topic, Convert.ToHexString(SHA256.HashData(batch)));
        lock (_lock)
        {
            bool isKnown = _batches.TryGetValue(key, out Task? known);
            if (isKnown && known is { IsCompleted: false } or { IsCompletedSuccessfully: true })
                return known;
            Task storing = _batches[key] = store();
            if (!isKnown)
                _byAge.Enqueue(key);
            Forget();
            return storing;
        }
    }

    /// <summary>Forgets the oldest; what is under way stays.</summary>
    private void Forget()
    {
        for (int looks = _byAge.Count - Most; looks > 0; looks--)
        {
            (Guid, string) oldest = _byAge.Dequeue();
            if (_batches[oldest].IsCompleted)
                _batches.Remove(oldest);
            else
                _byAge.Enqueue(oldest);
        }
    }
}
