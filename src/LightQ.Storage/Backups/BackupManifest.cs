using System.Text.Json;
using System.Text.Json.Serialization;

namespace LightQ.Storage.Backups;

/// <summary>What a backup holds: the file <c>backup.json</c>, which is written last. A folder without it holds no backup.</summary>
public sealed record BackupManifest
{
    /// <summary>The file's name.</summary>
    public const string FileName = "backup.json";

    /// <summary>The format that this version writes.</summary>
    public const int CurrentFormat = 1;

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

    /// <summary>Partitions, as <c>topics/ID/NUMBER</c>, that were damaged on the broker and are kept as they were.</summary>
    public IReadOnlyList<string> Damaged { get; init; } = [];

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
            throw new BackupException(folder, $"'{folder}' holds no complete backup: there is no {FileName}, which is written last.");
        try
        {
            using FileStream file = File.OpenRead(path);
            BackupManifest manifest = JsonSerializer.Deserialize(file, BackupJson.Default.BackupManifest) ?? throw new JsonException("It is empty.");
            return manifest.Format == CurrentFormat
                ? manifest
                : throw new BackupException(folder, $"'{path}' has format {manifest.Format}; this program knows format {CurrentFormat}.");
        }
        catch (JsonException e)
        {
            throw new BackupException(folder, $"'{path}' is damaged: {e.Message}", e);
        }
    }

    internal byte[] Encode() => JsonSerializer.SerializeToUtf8Bytes(this, BackupJson.Default.BackupManifest);
}

/// <summary>Source-generated serialisation of <see cref="BackupManifest"/>.</summary>
[JsonSourceGenerationOptions(PropertyNamingPolicy = JsonKnownNamingPolicy.SnakeCaseLower, WriteIndented = true)]
[JsonSerializable(typeof(BackupManifest))]
internal sealed partial class BackupJson : JsonSerializerContext;
