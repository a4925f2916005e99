namespace LightQ.Client.Administration;

/// <summary>
/// A part of a backup as a broker sends it, see <see cref="OperationsClient.BackupAsync"/>. A backup is one
/// <see cref="BackupBegin"/>, then files, and one <see cref="BackupEnd"/>. Each file is a <see cref="BackupFileBegin"/>
/// followed by its <see cref="BackupData"/>.
/// </summary>
public abstract record BackupPart
{
    private protected BackupPart() { }
}
