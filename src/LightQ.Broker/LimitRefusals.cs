using System.Collections.Concurrent;
using System.Globalization;
using System.Runtime.CompilerServices;

namespace LightQ.Broker;

/// <summary>
/// Counts what limits have refused, by the setting that is the limit. One for the whole broker; thread-safe.
/// </summary>
/// <remarks>
/// The caller that refuses names the property that is the limit; the section that it belongs to is put in front.
/// </remarks>
public sealed class LimitRefusals
{
    private readonly ConcurrentDictionary<string, StrongBox<long>> _counts;
    private readonly LimitRefusals _all;
    private readonly string _section;
    private Action<string, string>? _refused;

    /// <summary>Makes an empty one, for settings that are in no section.</summary>
    public LimitRefusals()
    {
        (_all, _section) = (this, "");
        _counts = new(StringComparer.Ordinal);
    }

    private LimitRefusals(LimitRefusals all, string section) =>
        (_all, _section, _counts) = (all, section + ":", all._counts);

    /// <summary>
    /// Called for every refusal in any section: the setting's key, and the reason in words. Must not block, and must
    /// not throw.
    /// </summary>
    public event Action<string, string>? Refused
    {
        add => _all._refused += value;
        remove => _all._refused -= value;
    }

    /// <summary>How often a limit has refused something since the broker started.</summary>
    /// <param name="setting">
    /// The setting, such as <c>MaxTopics</c>, or <c>Broker:MaxTopics</c> where all sections are.
    /// </param>
    public long this[string setting] =>
        _counts.TryGetValue(_section + setting, out StrongBox<long>? count) ? Volatile.Read(ref count.Value) : 0;

    /// <summary>The same counts for callers that name settings of one section without it.</summary>
    /// <param name="section">The section, such as <c>Broker</c>.</param>
    public LimitRefusals In(string section) => new(_all, section);

    /// <summary>
    /// Counts a limit that was met where no client is rejected; the caller reports it otherwise.
    /// </summary>
    /// <param name="setting">The setting.</param>
    /// <returns>Its key.</returns>
    public string Count(string setting)
    {
        string key = _section + setting;
        Interlocked.Increment(ref _counts.GetOrAdd(key, static _ => new StrongBox<long>()).Value);
        return key;
    }

    /// <summary>Counts a refusal.</summary>
    /// <param name="setting">The setting.</param>
    /// <param name="limit">Its value.</param>
    /// <param name="found">What was found, as a sentence without its point.</param>
    /// <returns>What the client is to be told: it names the setting by its key, and its value.</returns>
    public string Refuse(string setting, IFormattable limit, string found)
    {
        string key = Count(setting);
        string reason = string.Create(CultureInfo.InvariantCulture, $"{found}; the limit ({key}) is {limit}.");
        _all._refused?.Invoke(key, reason);
        return reason;
    }

    /// <summary>Counts a refusal.</summary>
    /// <returns>
    /// The error for the client: <see cref="ErrorCode.ResourceExhausted"/>, with what <see cref="Refuse"/> says.
    /// </returns>
    public BrokerException Exhausted(string setting, IFormattable limit, string found) =>
        new(ErrorCode.ResourceExhausted, Refuse(setting, limit, found));
}
