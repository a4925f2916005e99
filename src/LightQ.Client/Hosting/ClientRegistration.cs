namespace LightQ.Client.Hosting;

/// <summary>A client that an application has, whose options are read when they are needed.</summary>
/// <param name="Key">Its key; null for the one without.</param>
/// <param name="Read">
/// Reads its options from where the application keeps them; true as argument: the broker is named elsewhere, and need
/// not be found there.
/// </param>
internal sealed record ClientRegistration(object? Key, Func<bool, LightQClientOptions> Read)
{
    /// <summary>Under which its options are found.</summary>
    public string Name => NameOf(Key);

    public static string NameOf(object? key) => key?.ToString() ?? "";
}
