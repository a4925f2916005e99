namespace LightQ.Server.Tls;

/// <summary>Where a certificate is in its time.</summary>
internal enum CertificateTerm
{
    /// <summary>Good for a while.</summary>
    Good,

    /// <summary>
    /// It ends within thirty days, or within a quarter of the time for which it is valid if that is less: automatic
    /// renewal usually happens with a third of it left.
    /// </summary>
    Ending,

    /// <summary>It has ended.</summary>
    Ended,
}
