using System.Security.Cryptography;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using LightQ.Protocol;

namespace LightQ.Storage.Backups;

/// <summary>
/// What a backup holds: the file <c>backup.json</c>, which is written last. A folder without it holds no backup.
/// </summary>
public sealed record BackupManifest
{
    /// <summary>The file's name.</summary>
    public const string FileName = "backup.json";

    /// <summary>The format that this version writes.</summary>
    public const int CurrentFormat = 1;

    /// <summary>What stands for <see cref="ManifestSha256"/> while it is computed.</summary>
    private static readonly string Unsealed = new('0', 2 * SHA256.HashSizeInBytes);

    /// <summary>
    /// The SHA-256 of the file itself, with 64 zeros in this place. It is computed when the manifest is written.
    /// </summary>
    [JsonPropertyOrder(-1)]
    public string ManifestSha256
    {
        get;
        init => field = value ?? ""; // The JSON reader sets it to null when it is missing.
    } = "";

    /// <summary>The format; a later one is refused.</summary>
    public required int Format { get; init; }

    /// <summary>The broker's id: 32 hexadecimal digits.</summary>
    public required string BrokerId { get; init; }

    /// <summary>The broker's version.</summary>
    public required string Version { get; init; }

    /// <summary>The moment the logs are of.</summary>
    public required DateTimeOffset Time { get; init; }

    /// <summary>The topics; of transient ones only the settings are kept.</summary>
    public required IReadOnlyList<BackupTopic> Topics { get; init; }

    /// <summary>Every file, with what it must hold.</summary>
    public required IReadOnlyList<BackupFile> Files { get; init; }

    /// <summary>
    /// Partitions, as <c>topics/ID/NUMBER</c>, that were damaged on the broker and are kept as they were.
    /// </summary>
    public IReadOnlyList<string> Damaged
    {
        get;
        init => field = value ?? []; // The JSON reader sets it to null when it is missing.
    } = [];

    /// <summary>Bytes of all files.</summary>
    [JsonIgnore]
    public long Bytes => Files.Sum(file => file.Length);

    /// <summary>Reads the manifest of a folder.</summary>
    /// <exception cref="BackupException">There is none, or it cannot be understood.</exception>
    public static BackupManifest Read(string folder)
    {
        string path = Path.Combine(folder, FileName);
        if (!Directory.Exists(folder))
            throw new BackupException(folder, $"There is no folder '{folder}'.");
        if (!File.Exists(path))
        {
            throw new BackupException(
                folder,
                $"'{folder}' holds no complete backup: there is no {FileName}, which is written last."
            );
        }

        byte[] json = File.ReadAllBytes(path);
        var manifest = Read(folder, new MemoryStream(json));
        return manifest.IsSealOf(json)
            ? manifest
            : throw new BackupException(folder, $"'{path}' is damaged: it is not as it was written (SHA-256).");
    }

    /// <summary>Reads a manifest.</summary>
    /// <param name="folder">Where it is, for messages.</param>
    /// <param name="json">The file.</param>
    /// <exception cref="BackupException">It cannot be understood, or lists what cannot be.</exception>
    internal static BackupManifest Read(string folder, Stream json)
    {
        string path = Path.Combine(folder, FileName);
        try
        {
            BackupManifest manifest =
                JsonSerializer.Deserialize(json, BackupJson.Default.BackupManifest)
                ?? throw new BackupException(folder, $"'{path}' is not a valid manifest: it is null.");
            if (manifest.Format != CurrentFormat)
            {
                throw new BackupException(
                    folder,
                    $"'{path}' has format {manifest.Format}; this program knows format {CurrentFormat}."
                );
            }

            manifest.ThrowIfImpossible(folder);
            return manifest;
        }
        catch (JsonException e)
        {
            throw new BackupException(
                folder,
                $"'{path}' is not a valid manifest: it is wrong or incomplete at line {e.LineNumber + 1}, byte "
                    + $"{e.BytePositionInLine + 1}.",
                e
            );
        }
    }

    /// <summary>Refuses what no broker lists: it would lead out of the folder, or to more than there can be.</summary>
    /// <exception cref="BackupException">It does.</exception>
    internal void ThrowIfImpossible(string folder)
    {
        if (Problem() is { } problem)
            throw new BackupException(folder, $"The backup in '{folder}' is damaged: its manifest lists {problem}.");
    }

    private string? Problem()
    {
        HashSet<string> seen = new(StringComparer.Ordinal);
        foreach (BackupTopic? topic in Topics)
        {
            if (topic is null)
                return "a topic that is null";
            if (!seen.Add(topic.Id) || !seen.Add($"name {topic.Name}"))
                return $"topic '{topic.Name}' with the id '{topic.Id}', and another with that name or id";
            if (!BackupLayout.IsId(topic.Id))
                return $"topic '{topic.Name}' with the id '{topic.Id}', which is not of 32 hexadecimal digits";
            if (topic.Partitions is < 1 or > ProtocolLimits.MaxPartitions)
            {
                return $"topic '{topic.Name}' with {topic.Partitions} partitions; a topic has 1 to "
                    + $"{ProtocolLimits.MaxPartitions}";
            }
        }
        decimal total = 0;
        foreach (BackupFile? file in Files)
        {
            if (file is null)
                return "a file that is null";
            if (!BackupLayout.IsFile(file.Path))
                return $"'{file.Path}', which is no file of a data directory";
            if (!seen.Add(file.Path))
                return $"'{file.Path}' twice";
            if (file.Length < 0 || (total += file.Length) > long.MaxValue)
                return $"'{file.Path}' with {file.Length} bytes, and in all no more than {long.MaxValue} can be";
            if (!BackupLayout.IsHash(file.Sha256))
                return $"'{file.Path}' with the SHA-256 '{file.Sha256}', which is not of 64 hexadecimal digits";
        }
        return Damaged.Any(directory => directory is null) ? "a damaged partition that is null" : null;
    }

    internal byte[] Encode()
    {
        byte[] json = JsonSerializer.SerializeToUtf8Bytes(
            this with
            {
                ManifestSha256 = Unsealed,
            },
            BackupJson.Default.BackupManifest
        );
        byte[] seal = Encoding.ASCII.GetBytes(Convert.ToHexStringLower(SHA256.HashData(json)));
        seal.CopyTo(json, PlaceOf(Unsealed, json)); // The first property: nothing in front of it looks like it.
        return json;
    }

    private bool IsSealOf(byte[] json)
    {
        if (!BackupLayout.IsHash(ManifestSha256) || PlaceOf(ManifestSha256, json) is not (>= 0 and var at))
            return false;
        byte[] unsealed = [.. json];
        Encoding.ASCII.GetBytes(Unsealed, unsealed.AsSpan(at));
        return Convert.ToHexStringLower(SHA256.HashData(unsealed)) == ManifestSha256;
    }

    private static int PlaceOf(string seal, byte[] json) => json.AsSpan().IndexOf(Encoding.ASCII.GetBytes(seal));
}

/// <summary>Source-generated serialisation of <see cref="BackupManifest"/>.</summary>
[JsonSourceGenerationOptions(
    PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower,
    WriteIndented = true,
    RespectNullableAnnotations = true,
    RespectRequiredConstructorParameters = true
)]
[JsonSerializable(typeof(BackupManifest))]
internal sealed partial class BackupJson : JsonSerializerContext;
