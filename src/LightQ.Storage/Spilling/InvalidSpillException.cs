namespace LightQ.Storage.Spilling;

/// <summary>A temporary file does not give back what was written to it.</summary>
internal sealed class InvalidSpillException(string path, long position, int length)
    : IOException($"Of '{path}', {length} bytes at {position} are not what was written.");
