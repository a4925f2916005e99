namespace LightQ.Storage;

/// <summary>What the journals of one broker share: writer, reader, supply and housekeeping threads, and the file system.</summary>
/// <remarks>Dispose it after the journals that were opened with it.</remarks>
public sealed class JournalEnvironment : IDisposable
{
    /// <summary>Starts the threads.</summary>
    public JournalEnvironment(JournalEnvironmentOptions? options = null) => Options = options ?? new JournalEnvironmentOptions();

    /// <summary>The settings.</summary>
    public JournalEnvironmentOptions Options { get; }

    /// <summary>Stops the threads.</summary>
    public void Dispose() => GC.SuppressFinalize(this);
}
