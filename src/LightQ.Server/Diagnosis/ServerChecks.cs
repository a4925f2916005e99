using System.Globalization;
using System.Net.Sockets;
using System.Security.Cryptography.X509Certificates;
using LightQ.Server.Hosting;
using LightQ.Server.Ports;
using LightQ.Server.Tls;

namespace LightQ.Server.Diagnosis;

/// <summary>Checks the broker's settings: its ports, and its certificate.</summary>
internal sealed class ServerChecks(LightQServerOptions options, TimeProvider time)
{
    /// <param name="isInUse">
    /// Whether a broker works in the data directory: then the ports are most likely its own.
    /// </param>
    public IEnumerable<Finding> Run(bool isInUse)
    {
        yield return Exposure();
        yield return Port("data port", options.DataPort, "--data-port", isInUse);
        yield return Port("control port", options.ControlPort, "--control-port", isInUse);
        yield return Port("web port", options.WebPort, "--web-port", isInUse);
        foreach (Finding finding in Certificate())
            yield return finding;
    }

    /// <summary>How long a certificate is good for.</summary>
    public static Finding Expiry(string check, X509Certificate2 certificate, DateTimeOffset now)
    {
        string found = string.Create(
            CultureInfo.InvariantCulture,
            $"{certificate.Subject}, good until {certificate.NotAfter.ToUniversalTime():u}"
        );
        string remedy = CertificateWatch.Remedy(certificate),
            fix = $"{char.ToUpperInvariant(remedy[0])}{remedy[1..]}.";
        return CertificateTerms.Of(certificate, now).Term switch
        {
            CertificateTerm.Ended => Finding.Failed(check, found + ": it has expired", fix),
            CertificateTerm.Ending => Finding.Warning(check, found, fix),
            _ => Finding.Ok(check, found),
        };
    }

    private Finding Exposure()
    {
        const string Check = "exposure";
        try
        {
            StartChecks.Check(options);
        }
        catch (ServerStartException e)
        {
            return Finding.Failed(Check, e.Message, "See 'lightq server --help'.");
        }
        bool isLocal = System.Net.IPAddress.IsLoopback(options.Bind);
        string found =
            $"listens on {options.Bind}, {(options.Tls.IsEnabled ? "with" : "without")} TLS, "
            + $"{(options.RequireAuth ? "logins required" : "open until there is a user besides admin")}";
        return !isLocal && !(options.Tls.IsEnabled && options.RequireAuth)
            ? Finding.Warning(
                Check,
                found,
                "Leave --insecure out and give a certificate and --require-auth, unless every client on the network "
                    + "may do everything."
            )
            : Finding.Ok(Check, found);
    }

    private Finding Port(string check, int port, string flag, bool isInUse)
    {
        if (port == 0)
            return Finding.Ok(check, "a free one is taken at the start");
        string number = port.ToString(CultureInfo.InvariantCulture);
        try
        {
            using Socket socket = ListenSocket.Open(options.Bind, port, flag);
            return Finding.Ok(check, number);
        }
        catch (ServerStartException e) when (e.Failure == ServerStartFailure.PortInUse && isInUse)
        {
            return Finding.Ok(check, $"{number}, in use; a broker works in the data directory");
        }
        catch (ServerStartException e)
        {
            return Finding.Failed(
                check,
                e.Message,
                $"Choose another with {flag}, or stop what has it ('ss -ltnp sport = :{number}' shows it)."
            );
        }
    }

    private IEnumerable<Finding> Certificate()
    {
        const string Check = "certificate";
        TlsOptions tls = options.Tls;
        if (tls.SelfSigned)
        {
            using X509Certificate2? made = SelfSignedCertificate.ReadIn(options.DataDirectory ?? "");
            yield return made is null
                ? Finding.Ok(Check, "self-signed, made at the next start")
                : Expiry(Check, made, time.GetUtcNow());
            yield break;
        }
        if (tls.CertificateFile is null)
            yield break;
        yield return Load(Check);
        foreach (string file in new[] { tls.KeyFile, tls.PasswordFile }.OfType<string>().Where(File.Exists))
        {
            yield return FilePermissions.IsReadByOthers(file)
                ? Finding.Warning(
                    "secret file",
                    $"others may read '{file}' ({FilePermissions.TextOf(file)})",
                    $"chmod 600 '{file}'"
                )
                : Finding.Ok("secret file", $"'{file}', for its owner alone");
        }
    }

    private Finding Load(string check)
    {
        try
        {
            ServerCertificate loaded = CertificateFiles.Load(options.Tls, time.GetUtcNow());
            Finding expiry = Expiry(check, loaded.Certificate, time.GetUtcNow());
            return
                expiry.Result != CheckResult.Ok
                || loaded.Certificate.Extensions.OfType<X509SubjectAlternativeNameExtension>().Any()
                ? expiry
                : Finding.Warning(
                    check,
                    $"{loaded.Certificate.Subject} has no subject alternative name",
                    "Issue one with the names and addresses by which clients connect: clients check those "
                        + "(docs/operate/tls.md)."
                );
        }
        catch (ServerStartException e)
        {
            return Finding.Failed(check, e.Message, "See docs/operate/tls.md; the broker does not start with it.");
        }
    }
}
