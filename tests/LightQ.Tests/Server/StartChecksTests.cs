using System.Net;
using LightQ.Server;
using LightQ.Server.Hosting;
using Xunit;

namespace LightQ.Tests.Server;

public sealed class StartChecksTests
{
    private static readonly string[] Addresses =
    [
        "127.0.0.1",
        "127.8.8.8",
        "::1",
        "0.0.0.0",
        "::",
        "192.0.2.1",
        "2001:db8::1",
    ];
    private static readonly bool[] NoAndYes = [false, true];
    private static readonly TlsOptions[] Certificates =
    [
        new(),
        new() { SelfSigned = true },
        new() { CertificateFile = "a.crt", KeyFile = "a.key" },
    ];

    [Fact]
    public void What_other_machines_reach_is_encrypted_and_closed_or_said_to_be_insecure()
    {
        foreach (
            LightQServerOptions options in from address in Addresses
            from tls in Certificates
            from login in NoAndYes
            from insecure in NoAndYes
            select LightQServerOptions.InProcess with
            {
                Bind = IPAddress.Parse(address),
                Tls = tls,
                RequireAuth = login,
                Insecure = insecure,
            }
        )
        {
            bool isLocal = options.Bind.ToString() is "127.0.0.1" or "127.8.8.8" or "::1";
            Exception? refused = Record.Exception(() => StartChecks.Check(options));
            if (isLocal || options.Insecure || (options.Tls != Certificates[0] && options.RequireAuth))
            {
                Assert.Null(refused);
                continue;
            }
            ServerStartException error = Assert.IsType<ServerStartException>(refused);
            Assert.Equal(78, error.ExitCode);
            Assert.Contains(options.Bind.ToString(), error.Message, StringComparison.Ordinal);
            Assert.Equal(
                options.Tls == Certificates[0],
                error.Message.Contains("--tls-cert", StringComparison.Ordinal)
            );
            Assert.Equal(!options.RequireAuth, error.Message.Contains("--require-auth", StringComparison.Ordinal));
        }
    }

    [Fact]
    public void Settings_of_TLS_that_contradict_each_other_are_refused()
    {
        (TlsOptions Tls, string Words)[] cases =
        [
            (new() { SelfSigned = true, CertificateFile = "a.crt" }, "choose one certificate"),
            (new() { KeyFile = "a.key" }, "without Tls:CertificateFile"),
            (new() { SelfSigned = true, ClientCertificates = ClientCertificates.Required }, "needs Tls:ClientCaFile"),
            (new() { ClientCaFile = "ca.crt" }, "without a certificate of the broker's own"),
        ];
        Assert.All(
            cases,
            c =>
                Assert.Contains(
                    c.Words,
                    Assert
                        .Throws<ServerStartException>(() =>
                            StartChecks.Check(LightQServerOptions.InProcess with { Tls = c.Tls })
                        )
                        .Message,
                    StringComparison.Ordinal
                )
        );
    }

    [Fact]
    public void Clients_need_a_certificate_as_soon_as_it_is_said_whose_are_trusted()
    {
        Assert.Equal(ClientCertificates.None, new TlsOptions().ClientCertificates);
        Assert.Equal(ClientCertificates.Required, new TlsOptions { ClientCaFile = "ca.crt" }.ClientCertificates);
        Assert.Equal(
            ClientCertificates.Allowed,
            new TlsOptions
            {
                ClientCaFile = "ca.crt",
                ClientCertificates = ClientCertificates.Allowed,
            }.ClientCertificates
        );
    }
}
