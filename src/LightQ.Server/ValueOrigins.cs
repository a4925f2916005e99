namespace LightQ.Server;

/// <summary>The values that <see cref="LightQServerOptions"/> were read from, by the setting's key.</summary>
/// <remarks>Two of them are always equal: options with the same values are equal, wherever these come from.</remarks>
internal sealed class ValueOrigins(IReadOnlyDictionary<string, ValueOrigin> values)
{
    /// <summary>Of options that are not read from a configuration.</summary>
    public static ValueOrigins None { get; } = new(new Dictionary<string, ValueOrigin>());

    /// <summary>The values by key.</summary>
    public IReadOnlyDictionary<string, ValueOrigin> Values => values;

    /// <inheritdoc/>
    public override bool Equals(object? obj) => obj is ValueOrigins;

    /// <inheritdoc/>
    public override int GetHashCode() => 0;
}
