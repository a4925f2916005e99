using Microsoft.Extensions.Configuration;

namespace LightQ.Client.Hosting;

/// <summary>Reads a processor's options from a configuration section; see <see cref="ClientSection"/>.</summary>
internal static class ProcessorSection
{
    private static readonly SortedDictionary<string, Func<ProcessorOptions, string, ProcessorOptions>> Keys = new(
        StringComparer.OrdinalIgnoreCase
    )
    {
        [nameof(ProcessorOptions.MaxConcurrency)] = (options, value) =>
            options with
            {
                MaxConcurrency = SectionValue.Number(value),
            },
        [nameof(ProcessorOptions.MaxInFlight)] = (options, value) =>
            options with
            {
                MaxInFlight = SectionValue.Number(value),
            },
        [nameof(ProcessorOptions.AutoComplete)] = (options, value) =>
            options with
            {
                AutoComplete = SectionValue.YesOrNo(value),
            },
        [nameof(ProcessorOptions.MaxLockRenewal)] = (options, value) =>
            options with
            {
                MaxLockRenewal = SectionValue.Time(value),
            },
        [nameof(ProcessorOptions.LockDuration)] = (options, value) =>
            options with
            {
                LockDuration = SectionValue.Time(value),
            },
        [nameof(ProcessorOptions.DrainTimeout)] = (options, value) =>
            options with
            {
                DrainTimeout = SectionValue.Time(value),
            },
        [nameof(ProcessorOptions.Ordering)] = (options, value) =>
            options with
            {
                Ordering = SectionValue.Word<ProcessingOrder>(value),
            },
        [nameof(ProcessorOptions.Start)] = (options, value) => options with { Start = Start(value) },
    };

    /// <summary>Reads a section over options: a key that is empty, or not there, leaves its option as it is.</summary>
    /// <param name="section">The section; it may be empty.</param>
    /// <param name="options">The options that it changes.</param>
    /// <exception cref="ArgumentException">A key is unknown, or a value is not allowed; it names the key.</exception>
    public static ProcessorOptions Read(IConfigurationSection section, ProcessorOptions options)
    {
        if (!string.IsNullOrEmpty(section.Value))
            throw new ArgumentException($"'{section.Path}' is a value; a section is wanted with keys of {Known()}.");
        foreach (IConfigurationSection entry in section.GetChildren())
        {
            if (!Keys.TryGetValue(entry.Key, out Func<ProcessorOptions, string, ProcessorOptions>? set))
                throw new ArgumentException($"'{entry.Path}' is no setting of a processor; those are {Known()}.");
            if (string.IsNullOrEmpty(entry.Value))
                continue;
            try
            {
                options = set(options, entry.Value);
            }
            catch (Exception e) when (e is ArgumentException or FormatException or OverflowException)
            {
                throw new ArgumentException($"'{entry.Path}' is '{entry.Value}': {SectionValue.Reason(e)}", e);
            }
        }
        return options;
    }

    private static string Known() => string.Join(", ", Keys.Keys);

    private static StartPosition Start(string value) =>
        value.ToUpperInvariant() switch
        {
            "EARLIEST" => StartPosition.Earliest,
            "LATEST" => StartPosition.Latest,
            "COMMITTED" => StartPosition.Committed,
            _ => throw new FormatException("One of Earliest, Latest, Committed is wanted."),
        };
}
