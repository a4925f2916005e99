using System.CommandLine;
using LightQ.Bench;
using LightQ.Cli.Output;
using LightQ.Client;

namespace LightQ.Cli.Bench;

/// <summary>
/// The options for TLS of the benches that have them, with the names that NATS' latency-tests give them.
/// </summary>
internal sealed class BenchTlsOptions
{
    private readonly Option<bool> _tls = new("--tls", "-secure")
    {
        Description =
            "TLS to the broker, and to the relay beside it; certificates are always checked. A broker that is started "
            + "makes its own.",
    };
    private readonly Option<string?> _ca = new("--tls-ca", "-tls_ca")
    {
        Description =
            "With TLS: the authorities to trust. Default: the machine's list, or the broker's own certificate if it "
            + "is started.",
        HelpName = "FILE",
    };
    private readonly Option<string?> _certificate = new("--tls-cert", "-tls_cert")
    {
        Description =
            "With TLS: what the clients show to the broker of --server, or what the broker that is started shows.",
        HelpName = "FILE",
    };
    private readonly Option<string?> _key = new("--tls-key", "-tls_key")
    {
        Description = "The key of --tls-cert. Default: it is in the same file.",
        HelpName = "FILE",
    };

    public void AddTo(Command command)
    {
        foreach (Option option in new Option[] { _tls, _ca, _certificate, _key })
            command.Add(option);
    }

    /// <summary>The settings with TLS, if it was asked for here or in the broker's connection string.</summary>
    /// <exception cref="CommandException">The options contradict each other.</exception>
    public BenchSettings Read(ParseResult parsed, BenchSettings settings)
    {
        var tls = new BenchTls(parsed.GetValue(_ca), parsed.GetValue(_certificate), parsed.GetValue(_key));
        bool isAsked =
            parsed.GetValue(_tls)
            || tls != new BenchTls(null, null, null)
            || (settings.Server is { } server && LightQClientOptions.Parse(server).Tls);
        if (!isAsked)
            return settings;
        if (settings.AgainstNats)
        {
            throw new CommandException(
                ExitCode.Usage,
                "NATS is measured without TLS only: leave out --against nats, or TLS."
            );
        }

        if (tls is { KeyFile: not null, CertificateFile: null })
            throw new CommandException(ExitCode.Usage, "--tls-key is given without --tls-cert.");
        if (settings.Server is null && tls is { CaFile: not null, CertificateFile: null })
        {
            throw new CommandException(
                ExitCode.Usage,
                "--tls-ca is given for a broker that makes its own certificate: give --tls-cert and --tls-key, or "
                    + "--server."
            );
        }

        return settings with
        {
            Tls = tls,
        };
    }
}
