using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Tls;

/// <summary>S4 as another implementation of TLS sees it.</summary>
[Trait("Fault", "S4")]
public sealed class OpenSslTests
{
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(20);

    [Fact]
    public async Task All_ports_speak_TLS_1_2_and_1_3_and_nothing_older()
    {
        OpenSsl.Require();
        var run = new FaultRun("S4", "openssl s_client with TLS 1.0 to 1.3 on each port");
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync();
        string[] trust = ["-CAfile", files.CaFile, "-verify_return_error", "-verify_ip", "127.0.0.1"];
        int refused = 0;
        foreach (int port in (int[])[server.DataPort, server.ControlPort, server.WebPort])
        {
            foreach (
                (string flag, string version) in ((string, string)[])[("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")]
            )
            {
                await WorksAsync(run, port, version, [flag, .. trust]);
            }

            foreach (string flag in (string[])["-tls1", "-tls1_1"])
            {
                (int code, string said) = await OpenSsl.ConnectAsync(
                    port,
                    [flag, "-cipher", "DEFAULT@SECLEVEL=0", .. trust]
                );
                Assert.True(code != 0, $"{flag} on port {port}: {said}");
                Assert.DoesNotContain("CONNECTION ESTABLISHED", said, StringComparison.Ordinal);
                run.Count("refused");
                refused++;
            }
        }
        await Eventually.TrueAsync(
            () =>
                server.Log.Lines.Count(l =>
                    l.Message.Contains("speaks no version of TLS from 1.2 on", StringComparison.Ordinal)
                ) == refused,
            Patience,
            () => string.Join('\n', server.Log.Lines.Select(l => l.Message))
        );
        Assert.Empty(server.Log.Errors);
        run.Report();
    }

    [Fact]
    public async Task A_certificate_is_refused_by_authority_and_by_name()
    {
        OpenSsl.Require();
        using var files = new TlsFiles();
        using var other = new TestAuthority("Someone else");
        await using TestServer server = await files.StartServerAsync();
        (int code, string said) = await OpenSsl.ConnectAsync(
            server.DataPort,
            "-CAfile",
            files.Write("other.crt", other.Pem),
            "-verify_return_error"
        );
        Assert.True(
            code != 0 && said.Contains("unable to get local issuer certificate", StringComparison.Ordinal),
            said
        );
        (code, said) = await OpenSsl.ConnectAsync(
            server.DataPort,
            "-CAfile",
            files.CaFile,
            "-verify_return_error",
            "-verify_hostname",
            "elsewhere.example"
        );
        Assert.True(code != 0 && said.Contains("hostname mismatch", StringComparison.OrdinalIgnoreCase), said);
        await Eventually.TrueAsync(
            () =>
                server.Log.Lines.Any(l =>
                    l.Message.Contains(
                        "does not trust the authority of this broker's certificate",
                        StringComparison.Ordinal
                    )
                ),
            Patience,
            () => string.Join('\n', server.Log.Lines.Select(l => l.Message))
        );
    }

    [Fact]
    public async Task Without_a_client_certificate_nothing_is_served()
    {
        OpenSsl.Require();
        using var files = new TlsFiles();
        await using TestServer server = await files.StartServerAsync(o =>
            o with
            {
                Tls = files.Options with { ClientCaFile = files.CaFile },
            }
        );
        (_, string said) = await OpenSsl.ConnectAsync(server.DataPort, "-CAfile", files.CaFile, "-ign_eof");
        Assert.Contains(
            "this broker requires a client certificate, and none was shown",
            said,
            StringComparison.Ordinal
        );
    }

    private static async Task WorksAsync(FaultRun run, int port, string version, string[] options)
    {
        (int code, string said) = await OpenSsl.ConnectAsync(port, options);
        Assert.True(
            code == 0 && said.Contains($"Protocol version: {version}", StringComparison.Ordinal),
            $"{version} on port {port}: {said}"
        );
        run.Count("accepted");
    }
}
