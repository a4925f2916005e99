using System.Collections.Concurrent;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace LightQ.Broker;

/// <summary>Counts what limits have refused, by the setting that is the limit. One for the whole broker; thread-safe.</summary>
public sealed class LimitRefusals
{
    private readonly ConcurrentDictionary<string, StrongBox<long>> _counts = new(StringComparer.Ordinal);

    /// <summary>Told of every refusal: the setting, and the reason in words. Must not block, and must not throw.</summary>
    public event Action<string, string>? Refused;

    /// <summary>How often a limit has refused something since the broker started.</summary>
    /// <param name="setting">The setting's key, such as <c>Broker:MaxTopics</c>.</param>
    public long this[string setting] => _counts.TryGetValue(setting, out StrongBox<long>? count) ? Volatile.Read(ref count.Value) : 0;

    /// <summary>Counts that a limit was met where nobody is refused anything, and who meets it tells of it otherwise.</summary>
    /// <param name="setting">The setting's key.</param>
    public void Count(string setting) => Interlocked.Increment(ref _counts.GetOrAdd(setting, static _ => new StrongBox<long>()).Value);

    /// <summary>Counts a refusal.</summary>
    /// <param name="setting">The setting's key.</param>
    /// <param name="limit">Its value.</param>
    /// <param name="found">What was found, as a sentence without its point.</param>
    /// <returns>What the client is to be told: it names the setting and its value.</returns>
    public string Refuse(string setting, IFormattable limit, string found)
    {
        Count(setting);
        string reason = string.Create(CultureInfo.InvariantCulture, $"{found}; the limit ({setting}) is {limit}.");
        Refused?.Invoke(setting, reason);
        return reason;
    }
}
