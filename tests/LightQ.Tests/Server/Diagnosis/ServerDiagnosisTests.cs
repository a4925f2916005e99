using LightQ.Server;
using LightQ.Server.Diagnosis;
using LightQ.Server.Tls;
using Xunit;

namespace LightQ.Tests.Server.Diagnosis;

/// <summary>What a host gets to know of options before it starts a broker with them.</summary>
public sealed class ServerDiagnosisTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-diagnosis-").FullName;

    [Fact]
    public void Directory_ports_and_certificate_are_looked_at_and_nothing_is_left_behind()
    {
        TlsOptions tls = TlsCertificate.MakeSelfSigned(_directory);
        string[] before = Directory.GetFileSystemEntries(_directory);
        IReadOnlyList<Finding> findings = ServerDiagnosis.Examine(
            LightQServerOptions.InProcess with
            {
                DataDirectory = _directory,
                Tls = tls,
            }
        );
        Assert.Equal(before, Directory.GetFileSystemEntries(_directory));
        string[] names =
        [
            "data directory",
            "file system",
            "free space",
            "sync",
            "exposure",
            "data port",
            "control port",
            "web port",
        ];
        Assert.Equal(names, findings.Select(f => f.Check).Where(names.Contains));
        Assert.Equal(CheckResult.Ok, Assert.Single(findings, f => f.Check == "certificate").Result);
    }

    [Fact]
    public void A_certificate_is_made_once_and_read_with_its_key()
    {
        TlsOptions made = TlsCertificate.MakeSelfSigned(_directory);
        string serial = TlsCertificate.Load(made).TargetCertificate.SerialNumber;
        Assert.True(TlsCertificate.Load(made).TargetCertificate.HasPrivateKey);
        Assert.Equal(
            serial,
            TlsCertificate.Load(TlsCertificate.MakeSelfSigned(_directory)).TargetCertificate.SerialNumber
        );
        Assert.Throws<InvalidOperationException>(() => TlsCertificate.Load(new TlsOptions()));
        File.Delete(made.KeyFile!);
        Assert.Equal(
            ServerStartFailure.Configuration,
            Assert.Throws<ServerStartException>(() => TlsCertificate.Load(made)).Failure
        );
    }

    public void Dispose() => Directory.Delete(_directory, recursive: true);
}
