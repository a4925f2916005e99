namespace LightQ.Storage;

/// <summary>
/// A file is whole and cannot be used here: it is of a version that this program does not know, or belongs to another
/// topic. Nothing was changed.
/// </summary>
public sealed class JournalFormatException(string message) : IOException(message);
