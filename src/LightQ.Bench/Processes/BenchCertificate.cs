using LightQ.Server;
using LightQ.Server.Tls;

namespace LightQ.Bench.Processes;

/// <summary>
/// The certificate that a bench's broker and relay show, and the authority that their clients trust. The bench deletes
/// its own files at the end.
/// </summary>
internal sealed class BenchCertificate : IDisposable
{
    private readonly DirectoryInfo? _directory;

    private BenchCertificate(DirectoryInfo? directory, string certificateFile, string keyFile, string caFile)
    {
        _directory = directory;
        (CertificateFile, KeyFile, CaFile) = (certificateFile, keyFile, caFile);
    }

    public string CertificateFile { get; }

    public string KeyFile { get; }

    public string CaFile { get; }

    /// <summary>Takes the given certificate, or makes one.</summary>
    /// <param name="given">Files that the user has named; null, or without a certificate, to make one.</param>
    public static BenchCertificate Create(BenchTls? given)
    {
        if (given?.CertificateFile is { } file)
            return new BenchCertificate(null, file, given.KeyFile ?? file, given.CaFile ?? file);
        DirectoryInfo directory = Directory.CreateTempSubdirectory("lightq-bench-tls-");
        TlsOptions made = TlsCertificate.MakeSelfSigned(directory.FullName);
        return new BenchCertificate(directory, made.CertificateFile!, made.KeyFile!, made.CertificateFile!);
    }

    public void Dispose() => _directory?.Delete(recursive: true);
}
