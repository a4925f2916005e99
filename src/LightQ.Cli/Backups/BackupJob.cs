using LightQ.Cli.Output;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Storage.Backups;

namespace LightQ.Cli.Backups;

/// <summary>Takes a backup from a running broker into a folder, and verifies what was written.</summary>
internal sealed class BackupJob(string folder, long bytesPerSecond, bool allowDamaged, CommandConsole console)
{
    private readonly BackupProgress _progress = new(console);

    /// <exception cref="BackupException">It is not complete; the folder has no manifest then.</exception>
    /// <exception cref="LightQException">The broker refused, or cannot be reached.</exception>
    public async Task<BackupView> RunAsync(LightQClientOptions options, CancellationToken cancellationToken)
    {
        await using var client = new LightQClient(options);
        IAsyncEnumerable<BackupPart> parts = client.Operations.BackupAsync(
            bytesPerSecond,
            allowDamaged,
            cancellationToken
        );
        (BackupBegin begin, BackupEnd end, BackupWriter writer) = await ReceiveAsync(parts, cancellationToken);
        using BackupWriter received = writer;
        BackupManifest manifest = ManifestOf(begin, end, writer);
        IReadOnlyList<(string Directory, string Detail)> damage = await Task.Run(
            () => Verify(writer.Folder, manifest, cancellationToken),
            cancellationToken
        );
        if (damage.Count != 0 && !allowDamaged)
        {
            throw new CommandException(
                ExitCode.Failed,
                $"What the broker stores is damaged, so the backup in '{writer.Folder}' was not finished: "
                    + $"{string.Join("; ", damage.Select(d => d.Detail).Take(10))}. Mend it ('lightq journal "
                    + $"repair'), or take it as it is with --allow-damaged, into another folder."
            );
        }
        manifest = manifest with { Damaged = [.. damage.Select(d => d.Directory)] };
        writer.Complete(manifest);
        console.EndProgress();
        return BackupView.Of(writer.Folder, manifest) with { SkippedTopics = [.. end.SkippedTopics] };
    }

    /// <summary>Reads everything that was written again; only what is right gets a manifest.</summary>
    /// <returns>What was damaged on the broker already.</returns>
    private IReadOnlyList<(string Directory, string Detail)> Verify(
        string written,
        BackupManifest manifest,
        CancellationToken cancellationToken
    )
    {
        BackupVerification.VerifyHashes(written, manifest, _progress.Verifying, cancellationToken);
        return BackupVerification.FindDamage(written, manifest, _progress.Verifying, cancellationToken);
    }

    /// <summary>The folder is made when the broker has answered: a wrong address leaves nothing behind.</summary>
    private async Task<(BackupBegin Begin, BackupEnd End, BackupWriter Writer)> ReceiveAsync(
        IAsyncEnumerable<BackupPart> parts,
        CancellationToken cancellationToken
    )
    {
        BackupBegin? begin = null;
        BackupEnd? end = null;
        BackupWriter? writer = null;
        try
        {
            await foreach (BackupPart part in parts)
            {
                if (begin is null != part is BackupBegin || end is not null)
                    throw Unexpected(part);
                switch (part)
                {
                    case BackupBegin first:
                        (begin, writer) = (first, BackupWriter.Create(folder));
                        break;
                    case BackupFileBegin file:
                        await writer!.BeginFileAsync(file.Path, file.Length, cancellationToken);
                        break;
                    case BackupData data:
                        await writer!.WriteAsync(data.Bytes, cancellationToken);
                        _progress.Received(writer.Bytes, begin!.EstimatedBytes);
                        break;
                    case BackupEnd last:
                        end = last;
                        break;
                }
            }
            return begin is not null && end is not null
                ? (begin, end, writer!)
                : throw new BackupException(folder, "The broker ended the backup before it was complete.");
        }
        catch
        {
            writer?.Dispose();
            throw;
        }
    }

    private BackupException Unexpected(BackupPart part) =>
        new(folder, $"The broker sent a part of a backup that does not belong there: {part.GetType().Name}.");

    private static BackupManifest ManifestOf(BackupBegin begin, BackupEnd end, BackupWriter writer)
    {
        BackupTopic[] topics =
        [
            .. end.Topics.Select(t => new BackupTopic(t.Name, t.Id, t.Partitions, t.IsDurable, t.Replicas)),
        ];
        writer.KeepOnly(topics);
        return new BackupManifest
        {
            Format = BackupManifest.CurrentFormat,
            BrokerId = begin.BrokerId,
            Version = begin.Version,
            Time = begin.Time,
            Topics = topics,
            Files = writer.Finish(),
        };
    }
}
