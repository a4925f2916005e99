namespace LightQ.IntegrationTests;

/// <summary>A directory that is removed at the end, with everything in it.</summary>
internal sealed class TemporaryDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("lightq-test-").FullName;

    /// <summary>The path of something in the directory.</summary>
    public string File(string name) => System.IO.Path.Combine(Path, name);

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
