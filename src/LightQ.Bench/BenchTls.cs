namespace LightQ.Bench;

/// <summary>TLS in a bench, for the broker and the relay alike.</summary>
/// <remarks>
/// Towards a broker that runs already the files are the clients': whom they trust, and what they show. A broker of our
/// own shows the certificate itself.
/// </remarks>
/// <param name="CaFile">
/// The authorities to trust; null for the machine's own list, or for the certificate that was made.
/// </param>
/// <param name="CertificateFile">A certificate; null for none, or to make one.</param>
/// <param name="KeyFile">Its key; null when it is in the same file.</param>
internal sealed record BenchTls(string? CaFile, string? CertificateFile, string? KeyFile)
{
    /// <summary>A broker's connection string with what this asks for.</summary>
    public string AddTo(string connectionString)
    {
        foreach (
            (string name, string? value) in (ReadOnlySpan<(string, string?)>)
                [("tls", "true"), ("ca", CaFile), ("cert", CertificateFile), ("key", KeyFile)]
        )
        {
            if (
                value is not null
                && !connectionString.Contains($"&{name}=", StringComparison.Ordinal)
                && !connectionString.Contains($"?{name}=", StringComparison.Ordinal)
            )
            {
                connectionString +=
                    $"{(connectionString.Contains('?') ? '&' : '?')}{name}={Uri.EscapeDataString(value)}";
            }
        }
        return connectionString;
    }
}
