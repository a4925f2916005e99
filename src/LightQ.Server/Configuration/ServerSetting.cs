namespace LightQ.Server.Configuration;

/// <summary>
/// One setting of the server: its key, and how its text becomes a value of <see cref="LightQServerOptions"/>.
/// </summary>
public sealed class ServerSetting
{
    private readonly Func<LightQServerOptions, string, LightQServerOptions> _apply;
    private readonly Func<LightQServerOptions, string> _read;

    internal ServerSetting(
        string key,
        string? flag,
        string description,
        Func<LightQServerOptions, string, LightQServerOptions> apply,
        Func<LightQServerOptions, string> read
    )
    {
        Key = key;
        Flag = flag;
        Description = description;
        _apply = apply;
        _read = read;
    }

    private ServerSetting(ServerSetting other)
        : this(other.Key, other.Flag, other.Description, other._apply, other._read)
    {
        (Scope, IsLive, IsSecret) = (other.Scope, other.IsLive, other.IsSecret);
    }

    /// <summary>
    /// The key in a file, such as <c>DataPlane:Heartbeat</c>; in the environment it is
    /// <c>LIGHTQ__DataPlane__Heartbeat</c>.
    /// </summary>
    public string Key { get; }

    /// <summary>The flag of <c>lightq server</c>, such as <c>--data-port</c>; null for settings without one.</summary>
    public string? Flag { get; }

    /// <summary>What the setting does, in one line.</summary>
    public string Description { get; }

    /// <summary>
    /// Whether the setting is one of the limits of docs/operate/limits.md: the broker counts under its key what the
    /// limit rejects.
    /// </summary>
    public bool IsLimit => Scope is not null;

    /// <summary>
    /// Whether a running server applies a changed value when it reads its configuration file again; the other settings
    /// need a restart.
    /// </summary>
    public bool IsLive { get; private init; }

    /// <summary>
    /// Whether the value is a secret, which is never shown: neither by <c>--print-config</c> nor in the log or an
    /// error.
    /// </summary>
    public bool IsSecret { get; private init; }

    /// <summary>Whose the limit is; null for a setting that is none.</summary>
    internal LimitScope? Scope { get; private init; }

    /// <summary>The same, taken over by a running server.</summary>
    internal ServerSetting Live() => new(this) { IsLive = true };

    /// <summary>The same, as a limit.</summary>
    /// <param name="scope">Whose it is.</param>
    internal ServerSetting Limit(LimitScope scope) => new(this) { Scope = scope };

    /// <summary>The same, as a secret.</summary>
    internal ServerSetting Secret() => new(this) { IsSecret = true };

    /// <summary>Reads the value from options, as text in the form of the configuration; also a secret's.</summary>
    public string Read(LightQServerOptions options) => _read(options);

    /// <summary>
    /// A text of the setting in the form in which it may be shown. For a secret it says only whether there is one. An
    /// address with a user, and so perhaps a password, is not repeated.
    /// </summary>
    public string Show(string text)
    {
        ArgumentNullException.ThrowIfNull(text);
        if (IsSecret)
            return text.Length == 0 ? "(none)" : "(secret)";
        return text.Contains("://", StringComparison.Ordinal) && text.Contains('@', StringComparison.Ordinal)
            ? "(an address with a user)"
            : text;
    }

    /// <summary>The options with this setting changed.</summary>
    /// <exception cref="ServerStartException">The text is not a value, or one that is not allowed.</exception>
    internal LightQServerOptions Apply(LightQServerOptions options, string text, string source)
    {
        try
        {
            return _apply(options, text);
        }
        catch (FormatException e)
        {
            throw Refuse(text, source, e.Message, e);
        }
        catch (ArgumentOutOfRangeException e)
        {
            // The framework appends the parameter and the value, which the message has already.
            throw Refuse(text, source, e.Message.Split(" (Parameter", 2)[0], e);
        }
    }

    private ServerStartException Refuse(string text, string source, string allowed, Exception cause) =>
        new(
            ServerStartFailure.Configuration,
            $"{Key} is '{Show(text)}' ({source}); allowed: {allowed}.",
            cause,
            source
        );
}
