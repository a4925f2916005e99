using LightQ.Client;
using LightQ.Server;
using LightQ.Tests.Shared;

namespace LightQ.IntegrationTests.Tls;

/// <summary>An authority, a broker's certificate from it, and the files of both.</summary>
internal sealed class TlsFiles : IDisposable
{
    private readonly TemporaryDirectory _directory = new();

    /// <param name="issue">Issues the broker's certificate; null for one that is right for 127.0.0.1.</param>
    public TlsFiles(Func<TestAuthority, TestCertificate>? issue = null)
    {
        using TestCertificate certificate = issue is null ? Authority.IssueServer() : issue(Authority);
        (CertificateFile, KeyFile) = certificate.Write(_directory.Path, "broker");
        CaFile = Write("ca.crt", Authority.Pem);
    }

    public TestAuthority Authority { get; } = new();

    public string CertificateFile { get; }

    public string KeyFile { get; }

    public string CaFile { get; }

    /// <summary>What a server needs to use them.</summary>
    public TlsOptions Options => new() { CertificateFile = CertificateFile, KeyFile = KeyFile };

    /// <summary>Starts a server with them.</summary>
    public Task<TestServer> StartServerAsync(Func<LightQServerOptions, LightQServerOptions>? configure = null) =>
        TestServer.StartAsync(o => configure is null ? o with { Tls = Options } : configure(o with { Tls = Options }));

    /// <summary>What a client of that server needs.</summary>
    public LightQClientOptions ClientOptions(TestServer server) =>
        new()
        {
            Host = "127.0.0.1",
            DataPort = server.DataPort,
            ControlPort = server.ControlPort,
            Tls = true,
            CertificateAuthorityFile = CaFile,
            ReconnectDelay = TimeSpan.FromMilliseconds(10),
        };

    /// <summary>The same with a certificate of the client's own.</summary>
    public LightQClientOptions ClientOptions(TestServer server, TestCertificate own)
    {
        (string file, string key) = own.Write(_directory.Path, $"client-{Guid.NewGuid():N}");
        return ClientOptions(server) with { ClientCertificateFile = file, ClientKeyFile = key };
    }

    /// <summary>Writes a file beside the others.</summary>
    /// <returns>Its path.</returns>
    public string Write(string name, string text)
    {
        string path = _directory.File(name);
        File.WriteAllText(path, text);
        return path;
    }

    public void Dispose()
    {
        Authority.Dispose();
        _directory.Dispose();
    }
}
