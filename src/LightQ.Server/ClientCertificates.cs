namespace LightQ.Server;

/// <summary>Whether clients show certificates of their own (mutual TLS).</summary>
public enum ClientCertificates
{
    /// <summary>They are not asked for one.</summary>
    None,

    /// <summary>They may show one, and it must be valid then.</summary>
    Allowed,

    /// <summary>Who shows no valid one is refused, on every port.</summary>
    Required,
}
