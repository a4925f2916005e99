using System.Security.Cryptography.X509Certificates;

namespace LightQ.Server.Diagnosis;

/// <summary>Looks at what a broker with some options would depend on, and says what is wrong and what to do.</summary>
public static class ServerDiagnosis
{
    /// <summary>
    /// Looks at the data directory and its disk, the options as a whole, the three ports and the certificate. Starts no
    /// broker; one may work in the directory. Takes up to some seconds, since it measures how long the disk takes for a
    /// sync, in a file of its own that is deleted again.
    /// </summary>
    /// <param name="options">The broker's options. Without a data directory, the directory of temporary files.</param>
    /// <returns>All findings, those that are as they should be among them, in a fixed order.</returns>
    public static IReadOnlyList<Finding> Examine(LightQServerOptions options)
    {
        ArgumentNullException.ThrowIfNull(options);
        var directory = new DirectoryChecks(options.DataDirectory ?? Path.GetTempPath());
        Finding[] ofDirectory = [.. directory.Run()];
        return [.. ofDirectory, .. new ServerChecks(options, options.TimeProvider).Run(directory.IsInUse)];
    }

    /// <summary>Whether a broker's certificate is about to end, as it would tell in its log.</summary>
    /// <param name="check">What the finding is to be called.</param>
    /// <param name="certificate">The certificate.</param>
    /// <param name="now">The time.</param>
    /// <returns>
    /// A warning from 30 days before its end on, or from a quarter of its time if that is less; then a failure.
    /// </returns>
    public static Finding ExamineCertificate(string check, X509Certificate2 certificate, DateTimeOffset now)
    {
        ArgumentNullException.ThrowIfNull(certificate);
        return ServerChecks.Expiry(check, certificate, now);
    }
}
