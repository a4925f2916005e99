using System.Net;
using System.Net.NetworkInformation;
using LightQ.IntegrationTests.Cli;
using Xunit;

namespace LightQ.IntegrationTests.Hosting;

/// <summary>What a broker says clients connect with.</summary>
public sealed class AnnouncedAddressTests
{
    private static string[] OfMachine =>
        [
            .. NetworkInterface
                .GetAllNetworkInterfaces()
                .SelectMany(i => i.GetIPProperties().UnicastAddresses)
                .Select(a => a.Address)
                .Where(a => !IPAddress.IsLoopback(a) && !a.IsIPv6LinkLocal)
                .Select(a => a.ToString().Contains(':', StringComparison.Ordinal) ? $"[{a}]" : a.ToString())
                .Distinct(),
        ];

    [Fact]
    public async Task On_all_addresses_it_names_those_that_other_machines_can_use()
    {
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path, "--bind", "0.0.0.0", "--insecure");

        Assert.StartsWith("lightq://127.0.0.1:", server.Url, StringComparison.Ordinal);
        Assert.Equal(
            OfMachine.Select(a => $"lightq://{a}:{server.DataPort}?control={server.ControlPort}"),
            server.RemoteUrls
        );
    }

    [Fact]
    public async Task With_TLS_it_names_those_that_its_certificate_is_for_and_the_file_that_clients_are_given()
    {
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(
            directory.Path,
            "--bind",
            "0.0.0.0",
            "--require-auth",
            "--tls-self-signed"
        );

        string host = Dns.GetHostName();
        Assert.Equal(
            OfMachine
                .Prepend(host)
                .Where(a => a != "localhost")
                .Select(a =>
                    $"lightq://{a}:{server.DataPort}?control={server.ControlPort}&tls=true&ca=tls-self-signed.crt"
                ),
            server.RemoteUrls
        );
    }

    [Fact]
    public async Task On_loopback_there_is_nothing_for_other_machines()
    {
        using var directory = new TemporaryDirectory();
        await using ToolServer server = await ToolServer.StartAsync(directory.Path);

        Assert.Empty(server.RemoteUrls);
    }
}
