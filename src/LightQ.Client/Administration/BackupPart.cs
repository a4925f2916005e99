namespace LightQ.Client.Administration;

/// <summary>
/// A part of a backup as a broker sends it, see <see cref="OperationsClient.BackupAsync"/>: one
/// <see cref="BackupBegin"/>, then files, each a <see cref="BackupFileBegin"/> with its <see cref="BackupData"/> behind
/// it, and one <see cref="BackupEnd"/>.
/// </summary>
public abstract record BackupPart
{
    private protected BackupPart() { }
}
