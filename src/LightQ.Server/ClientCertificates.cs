namespace LightQ.Server;

/// <summary>Whether clients present certificates of their own (mutual TLS).</summary>
public enum ClientCertificates
{
    /// <summary>The server does not ask clients for a certificate.</summary>
    None,

    /// <summary>Clients may present a certificate, which must then be valid.</summary>
    Allowed,

    /// <summary>A client without a valid certificate is rejected, on every port.</summary>
    Required,
}
