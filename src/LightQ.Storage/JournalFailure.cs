using LightQ.Storage.Files;

namespace LightQ.Storage;

/// <summary>What keeps a journal from being written.</summary>
/// <param name="Reason">What failed, for people, clients among them: see <see cref="DiskError"/>.</param>
/// <param name="Exception">The error; its message names the file.</param>
public sealed record JournalFailure(string Reason, Exception Exception)
{
    /// <summary>Describes an error.</summary>
    /// <param name="what">What failed, such as "writing".</param>
    /// <param name="error">Why.</param>
    public static JournalFailure Of(string what, Exception error) =>
        new($"{what} failed: {DiskError.Describe(error)}", error);
}
