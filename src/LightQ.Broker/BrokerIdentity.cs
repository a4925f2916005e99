using System.Globalization;
using System.Text;
using LightQ.Protocol.Checksums;
using LightQ.Storage;

namespace LightQ.Broker;

/// <summary>
/// The id of a data directory, in the file <c>broker-id</c>: 32 hexadecimal digits, a space, the CRC-32C of those
/// digits in 8 more, a line feed.
/// </summary>
/// <remarks>Earlier versions wrote the 32 digits and nothing else; such a file is read as it is.</remarks>
internal static class BrokerIdentity
{
    /// <summary>The file's name.</summary>
    public const string FileName = "broker-id";

    private const int IdDigits = 32;

    /// <param name="directory">The data directory.</param>
    /// <param name="events">Told when a broker has worked there, and its id is gone.</param>
    /// <exception cref="DataDirectoryException">
    /// The file is damaged: another id would be taken for another broker.
    /// </exception>
    public static Guid ReadOrCreate(string directory, IStorageEvents? events = null)
    {
        string path = Path.Combine(directory, FileName);
        if (File.Exists(path))
        {
            byte[] content = File.ReadAllBytes(path);
            return Decode(content)
                ?? throw new DataDirectoryException(
                    directory,
                    $"The file '{path}' is damaged: it is not 32 hexadecimal digits with their checksum. Put it back "
                        + $"from a backup, or remove it: the broker then takes a new id, and keeps everything else.",
                    new InvalidDataException(Encoding.Latin1.GetString(content))
                );
        }
        if (Directory.Exists(Path.Combine(directory, "groups")))
            events?.OnRebuilt($"the file '{FileName}', which was missing: the broker has another id from now on");
        var id = Guid.NewGuid();
        string temporary = path + ".new";
        using (var file = new FileStream(temporary, FileMode.Create, FileAccess.Write))
        {
            file.Write(Encode(id));
            // Before the rename. The catalog's directory is made next, and syncs the name.
            file.Flush(flushToDisk: true);
        }
        File.Move(temporary, path);
        return id;
    }

    /// <summary>The file's content.</summary>
    public static byte[] Encode(Guid id)
    {
        string digits = id.ToString("N");
        return Encoding.ASCII.GetBytes($"{digits} {ChecksumOf(digits)}\n");
    }

    /// <summary>The id that a file's content is of; null when it is damaged.</summary>
    public static Guid? Decode(ReadOnlySpan<byte> content)
    {
        string text = Encoding.Latin1.GetString(content).TrimEnd();
        if (!Guid.TryParseExact(text[..Math.Min(IdDigits, text.Length)], "N", out Guid id))
            return null;
        return text.Length == IdDigits || text[IdDigits..] == $" {ChecksumOf(text[..IdDigits])}" ? id : null;
    }

    private static string ChecksumOf(string digits) =>
        Crc32C.Compute(Encoding.Latin1.GetBytes(digits)).ToString("x8", CultureInfo.InvariantCulture);
}
