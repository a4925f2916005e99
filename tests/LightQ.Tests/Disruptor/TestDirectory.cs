namespace LightQ.Tests.Disruptor;

/// <summary>A directory of the test's own, gone when it ends.</summary>
internal sealed class TestDirectory : IDisposable
{
    private readonly DirectoryInfo _directory = Directory.CreateTempSubdirectory("lightq-ring-");

    public string File(string name) => Path.Combine(_directory.FullName, name);

    public void Dispose() => _directory.Delete(recursive: true);
}
