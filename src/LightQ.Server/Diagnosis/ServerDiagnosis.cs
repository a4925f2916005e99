using System.Security.Cryptography.X509Certificates;

namespace LightQ.Server.Diagnosis;

/// <summary>
/// Checks what a broker with the given options would depend on, and reports what is wrong and what to do.
/// </summary>
public static class ServerDiagnosis
{
    /// <summary>
    /// Checks the data directory and its disk, the options as a whole, the three ports and the certificate. Starts no
    /// broker; a broker may be using the directory. Takes up to some seconds, because it measures how long the disk
    /// takes for a sync, in a file of its own that it deletes again.
    /// </summary>
    /// <param name="options">The broker's options. Without a data directory, the directory of temporary files.</param>
    /// <returns>All findings, including those without a problem, in a fixed order.</returns>
    public static IReadOnlyList<Finding> Examine(LightQServerOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        var directory = new DirectoryChecks(options.DataDirectory ?? Path.GetTempPath());
        Finding[] ofDirectory = [.. directory.Run()];
        return [.. ofDirectory, .. new ServerChecks(options, options.TimeProvider).Run(directory.IsInUse)];
    }

    /// <summary>Checks whether a broker's certificate is about to expire, as the broker itself would log it.</summary>
    /// <param name="check">The name of the finding.</param>
    /// <param name="certificate">The certificate.</param>
    /// <param name="now">The time.</param>
    /// <returns>
    /// A warning from 30 days before the certificate expires, or from the last quarter of its lifetime if that is
    /// shorter; a failure once it has expired.
    /// </returns>
    public static Finding ExamineCertificate(string check, X509Certificate2 certificate, DateTimeOffset now)
    {
        ArgumentNullException.ThrowIfNull(certificate);
        return ServerChecks.Expiry(check, certificate, now);
    }
}
