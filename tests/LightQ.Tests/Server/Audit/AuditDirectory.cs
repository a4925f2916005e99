using System.Net;
using LightQ.Server;
using LightQ.Server.Audit;
using LightQ.Server.Security;
using LightQ.Storage.Files;
using LightQ.Tests.Shared;
using Microsoft.Extensions.Logging.Abstractions;

namespace LightQ.Tests.Server.Audit;

/// <summary>An audit log in a directory of its own.</summary>
internal sealed class AuditDirectory : IDisposable
{
    private readonly DirectoryInfo _root = System.IO.Directory.CreateTempSubdirectory("lightq-audit-");

    public FaultyFileSystem Disk { get; } = new(PlatformFileSystem.Choose());

    public ManualTime Time { get; } = new();

    public AuditOptions Options { get; init; } = new() { FileBytes = 64 * 1024 };

    public string Path => System.IO.Path.Combine(_root.FullName, AuditFiles.DirectoryName);

    public string[] Files => [.. AuditFiles.Among(Disk.List(Path)).Select(f => System.IO.Path.Combine(Path, f.Name))];

    public static SecurityEvent Change(int number, string detail = "publish on orders.*") =>
        new(
            SecurityAction.RightGranted,
            "admin",
            new Origin("control", new IPEndPoint(IPAddress.Loopback, 40000)),
            $"user-{number}",
            detail
        );

    public AuditLog Open(TimeProvider? clock = null) =>
        new(Disk, Path, Options, Time, clock ?? TimeProvider.System, NullLogger.Instance);

    /// <summary>A run of the broker that tells so many changes.</summary>
    public async Task WriteAsync(int count, string detail = "publish on orders.*")
    {
        await using AuditLog log = Open();
        for (int i = 0; i < count; i++)
            await log.WriteAsync(Change(i, detail));
    }

    public AuditReport Verify(AuditHead? expected = null, Action<AuditLine>? read = null) =>
        AuditVerifier.Verify(Path, expected, read);

    public IReadOnlyList<AuditLine> Lines()
    {
        var lines = new List<AuditLine>();
        AuditReport report = Verify(read: lines.Add);
        return report.Finding is null ? lines : throw new InvalidOperationException(report.Finding.ToString());
    }

    public void Dispose() => _root.Delete(recursive: true);
}
