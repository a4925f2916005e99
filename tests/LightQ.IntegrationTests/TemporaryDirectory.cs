namespace LightQ.IntegrationTests;

/// <summary>A directory that is removed at the end, with everything in it.</summary>
internal sealed class TemporaryDirectory : IDisposable
{
    public string Path { get; } = Directory.CreateTempSubdirectory("lightq-test-").FullName;

    public void Dispose() => Directory.Delete(Path, recursive: true);
}
