using Microsoft.Extensions.Configuration;

namespace LightQ.Client.Hosting;

/// <summary>
/// Reads a client's options from a configuration section: key by key, so that it needs no reflection and every error
/// names its key.
/// </summary>
internal static class ClientSection
{
    private const string ConnectionStringKey = "ConnectionString";

    private static readonly SortedDictionary<string, Func<LightQClientOptions, string, LightQClientOptions>> Keys = new(
        StringComparer.OrdinalIgnoreCase
    )
    {
        [nameof(LightQClientOptions.Host)] = (options, value) => options with { Host = value },
        [nameof(LightQClientOptions.DataPort)] = (options, value) =>
            options with
            {
                DataPort = SectionValue.Number(value),
            },
        [nameof(LightQClientOptions.ControlPort)] = (options, value) =>
            options with
            {
                ControlPort = SectionValue.Number(value),
            },
        [nameof(LightQClientOptions.OtherBrokers)] = (options, value) => options with { OtherBrokers = Brokers(value) },
        [nameof(LightQClientOptions.User)] = (options, value) => options with { User = value },
        [nameof(LightQClientOptions.Password)] = (options, value) => options with { Password = value },
        [nameof(LightQClientOptions.Token)] = (options, value) => options with { Token = value },
        [nameof(LightQClientOptions.PasswordFile)] = (options, value) => options with { PasswordFile = value },
        [nameof(LightQClientOptions.TokenFile)] = (options, value) => options with { TokenFile = value },
        [nameof(LightQClientOptions.Tls)] = (options, value) => options with { Tls = SectionValue.YesOrNo(value) },
        [nameof(LightQClientOptions.Insecure)] = (options, value) =>
            options with
            {
                Insecure = SectionValue.YesOrNo(value),
            },
        [nameof(LightQClientOptions.CertificateAuthorityFile)] = (options, value) =>
            options with
            {
                CertificateAuthorityFile = value,
            },
        [nameof(LightQClientOptions.ClientCertificateFile)] = (options, value) =>
            options with
            {
                ClientCertificateFile = value,
            },
        [nameof(LightQClientOptions.ClientKeyFile)] = (options, value) => options with { ClientKeyFile = value },
        [nameof(LightQClientOptions.ClientName)] = (options, value) => options with { ClientName = value },
        [nameof(LightQClientOptions.ConnectTimeout)] = (options, value) =>
            options with
            {
                ConnectTimeout = SectionValue.Time(value),
            },
        [nameof(LightQClientOptions.WaitForBroker)] = (options, value) =>
            options with
            {
                WaitForBroker = SectionValue.YesOrNo(value),
            },
        [nameof(LightQClientOptions.ReconnectDelay)] = (options, value) =>
            options with
            {
                ReconnectDelay = SectionValue.Time(value),
            },
        [nameof(LightQClientOptions.MaxReconnectDelay)] = (options, value) =>
            options with
            {
                MaxReconnectDelay = SectionValue.Time(value),
            },
        [nameof(LightQClientOptions.MaxSharedProducers)] = (options, value) =>
            options with
            {
                MaxSharedProducers = SectionValue.Number(value),
            },
        [nameof(LightQClientOptions.ReceiveMode)] = (options, value) =>
            options with
            {
                ReceiveMode = SectionValue.Word<ReceiveMode>(value),
            },
    };

    /// <summary>
    /// Reads a section: a connection string, or keys named like the options, with or without one beside them, whose
    /// options they override. What is empty is not there: command lines have a section's own key beside those in it.
    /// </summary>
    /// <param name="section">The section.</param>
    /// <param name="isNamed">Whether the broker is named elsewhere, so that nothing need be in the section.</param>
    /// <exception cref="ArgumentException">
    /// There is nothing in it, it names two brokers, a key is unknown, or a value is not allowed.
    /// </exception>
    public static LightQClientOptions Read(IConfigurationSection section, bool isNamed)
    {
        IConfigurationSection[] entries = [.. section.GetChildren().Where(HasValue)];
        IConfigurationSection? inside = entries.FirstOrDefault(entry => Is(entry, ConnectionStringKey));
        IConfigurationSection? whole = string.IsNullOrEmpty(section.Value) ? inside : section;
        if (entries.Length == 0 && whole is null && !isNamed)
        {
            throw new ArgumentException(
                $"There is nothing at '{section.Path}' in the configuration; it is a connection string, or has keys "
                    + $"of {Known()}."
            );
        }

        if (!isNamed)
            RefuseTwo(whole, inside, entries);
        LightQClientOptions options = whole is null ? new LightQClientOptions() : Parse(whole);
        foreach (IConfigurationSection entry in entries.Where(entry => !Is(entry, ConnectionStringKey)))
        {
            if (!Keys.TryGetValue(entry.Key, out Func<LightQClientOptions, string, LightQClientOptions>? set))
                throw new ArgumentException($"'{entry.Path}' is no setting of a client; those are {Known()}.");
            if (string.IsNullOrEmpty(entry.Value))
                throw new ArgumentException($"'{entry.Path}' has values inside it; one value is wanted.");
            options = Apply(entry, entry.Value, options, set);
        }
        return options;
    }

    /// <summary>Reads a connection string of the application's.</summary>
    /// <param name="section">Where it stands.</param>
    /// <param name="isNamed">Whether the broker is named elsewhere, so that there need be none.</param>
    /// <exception cref="ArgumentException">There is none, or it is wrong.</exception>
    public static LightQClientOptions ReadConnectionString(IConfigurationSection section, bool isNamed) =>
        !string.IsNullOrEmpty(section.Value) ? Parse(section)
        : isNamed ? new LightQClientOptions()
        : throw new ArgumentException($"The configuration has no {section.Path}, for example \"lightq://localhost\".");

    /// <summary>
    /// Refuses two names of a broker: one is most likely from a file, and the other meant to take its place, and a
    /// wrong guess works on the wrong broker.
    /// </summary>
    private static void RefuseTwo(
        IConfigurationSection? whole,
        IConfigurationSection? inside,
        IConfigurationSection[] entries
    )
    {
        if (whole is null)
            return;
        IConfigurationSection? second =
            inside is not null && inside != whole && inside.Value != whole.Value
                ? inside
                : Array.Find(
                    entries,
                    static entry =>
                        Is(entry, nameof(LightQClientOptions.Host))
                        || Is(entry, nameof(LightQClientOptions.OtherBrokers))
                );
        if (second is not null)
        {
            throw new ArgumentException(
                $"'{whole.Path}' and '{second.Path}' both name a broker: leave one empty, so that it is clear which "
                    + "is meant."
            );
        }
    }

    // A section without a value of its own has what is in it.
    private static bool HasValue(IConfigurationSection entry) =>
        !string.IsNullOrEmpty(entry.Value) || entry.GetChildren().Any(HasValue);

    private static LightQClientOptions Parse(IConfigurationSection entry) =>
        Apply(entry, entry.Value ?? "", default, static (_, value) => LightQClientOptions.Parse(value));

    private static LightQClientOptions Apply(
        IConfigurationSection entry,
        string value,
        LightQClientOptions? options,
        Func<LightQClientOptions, string, LightQClientOptions> set
    )
    {
        try
        {
            return set(options!, value);
        }
        catch (Exception e) when (e is ArgumentException or FormatException or OverflowException)
        {
            // What may hold a password is not shown.
            bool isSecret =
                options is null
                || Is(entry, nameof(LightQClientOptions.Password))
                || Is(entry, nameof(LightQClientOptions.Token));
            throw new ArgumentException(
                $"'{entry.Path}' is {(isSecret ? "wrong" : $"'{value}'")}: {SectionValue.Reason(e)}",
                e
            );
        }
    }

    private static bool Is(IConfigurationSection entry, string key) =>
        string.Equals(entry.Key, key, StringComparison.OrdinalIgnoreCase);

    private static string Known() => string.Join(", ", Keys.Keys.Prepend(ConnectionStringKey));

    /// <summary>As in a connection string, the control ports too.</summary>
    private static IReadOnlyList<BrokerEndpoint> Brokers(string value) =>
        value.Contains('@')
            ? throw new FormatException("Brokers like n2:5700,n3:5700 are wanted, without a user.")
            : [.. LightQClientOptions.Parse($"lightq://{value}").Brokers];
}
