using System.Net.Security;
using System.Security.Authentication;
using System.Security.Cryptography.X509Certificates;
using Microsoft.Extensions.Logging;

namespace LightQ.Server.Tls;

/// <summary>The certificate in force on all ports, and the rules for clients'. Thread-safe.</summary>
/// <remarks>
/// The files are looked at by handshakes, at most once a second, so that a new certificate is in force as soon as a
/// client could see it, and once a day by <see cref="CertificateWatch"/>. A certificate that cannot be used is logged,
/// and the previous one stays.
/// </remarks>
internal sealed class ServerTls
{
    private static readonly TimeSpan LookInterval = TimeSpan.FromSeconds(1);

    private readonly TlsOptions _options;
    private readonly FileStamps _stamps;
    private readonly TimeProvider _time;
    private readonly ILogger _logger;
    private readonly Lock _reading = new();
    private volatile ServerCertificate _current;
    private long _lastLook;
    private bool _isKept;

    /// <summary>Reads the certificate.</summary>
    /// <exception cref="ServerStartException">It cannot be used.</exception>
    public ServerTls(TlsOptions options, TimeProvider time, ILogger logger)
    {
        _options = options;
        _time = time;
        _logger = logger;
        _stamps = new FileStamps(
            new[]
            {
                options.CertificateFile,
                options.KeyFile,
                options.PasswordFile,
                options.ClientCaFile,
            }.OfType<string>()
        );
        _stamps.Update();
        _lastLook = time.GetTimestamp();
        _current = CertificateFiles.Load(options, time.GetUtcNow());
        ServerLog.CertificateInForce(
            logger,
            _current.Certificate.Subject,
            _current.Certificate.NotAfter.ToUniversalTime()
        );
    }

    /// <summary>Raised when other files have been read and are in force, on the thread that found them.</summary>
    public event Action? Changed;

    /// <summary>The broker's own certificate.</summary>
    public X509Certificate2 Certificate => _current.Certificate;

    /// <summary>
    /// The name by which clients on this machine can check the certificate: the address they connect to if it is in
    /// there.
    /// </summary>
    public string HostFor(string address)
    {
        X509Certificate2 certificate = Certificate;
        foreach (string name in (ReadOnlySpan<string>)[address.Trim('[', ']'), "localhost"])
        {
            if (certificate.MatchesHostname(name, allowWildcards: true, allowCommonName: false))
                return name.Contains(':') ? $"[{name}]" : name;
        }
        return CertificateNames.DnsOf(certificate).FirstOrDefault(n => !n.StartsWith('*')) ?? address;
    }

    /// <summary>
    /// By which of some addresses, and which names of its own, the certificate lets clients connect that are not on
    /// this machine.
    /// </summary>
    public IEnumerable<string> HostsFor(IEnumerable<string> addresses)
    {
        X509Certificate2 certificate = Certificate;
        return CertificateNames
            .DnsOf(certificate)
            .Where(n => !n.StartsWith('*') && n != "localhost")
            .Concat(addresses.Where(a => certificate.MatchesHostname(a, allowWildcards: true, allowCommonName: false)));
    }

    /// <summary>Reads the files again, changed or not.</summary>
    /// <returns>Why they cannot be used, in which case what was in force stays so; null when they can.</returns>
    public string? Reload()
    {
        lock (_reading)
        {
            _stamps.Update();
            return Read();
        }
    }

    /// <summary>What the next handshake is made with. May read files.</summary>
    /// <param name="verify">Judges the client's certificate; <see cref="ProblemOf"/> does.</param>
    /// <param name="protocols">Application protocols to choose from; null for none.</param>
    public SslServerAuthenticationOptions Begin(
        RemoteCertificateValidationCallback verify,
        List<SslApplicationProtocol>? protocols = null
    )
    {
        LookForChanges();
        ServerCertificate current = _current;
        bool asks = _options.ClientCertificates != ClientCertificates.None;
        var options = new SslServerAuthenticationOptions
        {
            ServerCertificateContext = current.Context,
            EnabledSslProtocols = SslProtocols.Tls12 | SslProtocols.Tls13,
            AllowRenegotiation = false,
            ApplicationProtocols = protocols,
            ClientCertificateRequired = asks,
            AllowTlsResume = !asks, // A client that is no longer trusted is to be found out at once.
        };
        if (!asks)
            return options;
        options.RemoteCertificateValidationCallback = verify;
        options.CertificateChainPolicy = new X509ChainPolicy
        {
            TrustMode = X509ChainTrustMode.CustomRootTrust,
            RevocationMode = X509RevocationMode.NoCheck,
            DisableCertificateDownloads = true,
        };
        options.CertificateChainPolicy.CustomTrustStore.AddRange(current.ClientAuthorities);
        return options;
    }

    /// <summary>Why a client's certificate is rejected; null when it is not.</summary>
    public string? ProblemOf(X509Certificate? certificate, X509Chain? chain, SslPolicyErrors errors)
    {
        if (certificate is null)
        {
            return _options.ClientCertificates == ClientCertificates.Required
                ? "this broker requires a client certificate, and none was shown"
                : null;
        }

        if (errors == SslPolicyErrors.None)
            return null;
        X509ChainStatusFlags faults =
            chain?.ChainStatus.Aggregate(X509ChainStatusFlags.NoError, (all, s) => all | s.Status)
            ?? X509ChainStatusFlags.NoError;
        string why =
            (faults & X509ChainStatusFlags.NotTimeValid) != 0 ? "has expired or is not valid yet"
            : (faults & (X509ChainStatusFlags.UntrustedRoot | X509ChainStatusFlags.PartialChain)) != 0
                ? "is not from an authority that this broker trusts"
            : (faults & X509ChainStatusFlags.NotValidForUsage) != 0 ? "is not for clients"
            : $"is not valid ({faults})";
        return $"the client certificate {certificate.Subject} {why}";
    }

    /// <summary>Reads the files if they have changed and were not checked for a second.</summary>
    public void LookForChanges()
    {
        long last = Volatile.Read(ref _lastLook);
        if (
            _time.GetElapsedTime(last) < LookInterval
            || Interlocked.CompareExchange(ref _lastLook, _time.GetTimestamp(), last) != last
        )
        {
            return;
        }

        lock (_reading)
        {
            if (_stamps.Update())
                Read();
        }
    }

    private string? Read()
    {
        try
        {
            _current = CertificateFiles.Load(_options, _time.GetUtcNow());
            if (_isKept)
            {
                ServerLog.CertificateInForceAgain(
                    _logger,
                    _current.Certificate.Subject,
                    _current.Certificate.NotAfter.ToUniversalTime()
                );
            }
            else
            {
                ServerLog.CertificateInForce(
                    _logger,
                    _current.Certificate.Subject,
                    _current.Certificate.NotAfter.ToUniversalTime()
                );
            }

            _isKept = false;
            Changed?.Invoke();
            return null;
        }
        catch (ServerStartException e)
        {
            ServerLog.CertificateKept(
                _logger,
                e.Message,
                _current.Certificate.Subject,
                _current.Certificate.NotAfter.ToUniversalTime()
            );
            _isKept = true;
            return e.ClientMessage;
        }
    }
}
