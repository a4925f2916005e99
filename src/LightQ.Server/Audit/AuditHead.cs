using System.Globalization;
using System.Text;

namespace LightQ.Server.Audit;

/// <summary>The last line that the log is known to have: its number and its hash, as <c>NUMBER:HASH</c>.</summary>
/// <remarks>
/// It is created, with the number 0, before the first line. The file <c>head</c> holds it, and is written after the
/// lines are on the disk. It may be behind the lines, never ahead of them. A log that is shorter than its head has lost
/// its end.
/// </remarks>
/// <param name="Sequence">The line's number.</param>
/// <param name="Hash">Its hash: 64 hexadecimal digits.</param>
public readonly record struct AuditHead(long Sequence, string Hash)
{
    /// <summary>The file's name.</summary>
    internal const string FileName = "head";

    /// <summary>The file's size: it is written in one piece, and a shorter text is filled up.</summary>
    internal const int FileBytes = 128;

    /// <summary>Reads <c>NUMBER:HASH</c>.</summary>
    /// <param name="text">The text.</param>
    /// <param name="head">The head that was read.</param>
    /// <returns>Whether the text is of that form.</returns>
    public static bool TryParse(string text, out AuditHead head)
    {
        head = default;
        int colon = text.IndexOf(':', StringComparison.Ordinal);
        if (
            colon < 0
            || !long.TryParse(text.AsSpan(0, colon), NumberStyles.None, CultureInfo.InvariantCulture, out long sequence)
            || sequence > AuditLine.MaxSequence
        )
        {
            return false;
        }

        string hash = text[(colon + 1)..];
        if (hash.Length != AuditLine.NoHash.Length || !hash.All(char.IsAsciiHexDigitLower))
            return false;
        head = new AuditHead(sequence, hash);
        return true;
    }

    /// <summary>The file's content.</summary>
    internal byte[] ToBytes() => Encoding.ASCII.GetBytes(ToString().PadRight(FileBytes - 1) + '\n');

    /// <summary><c>NUMBER:HASH</c>.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"{Sequence}:{Hash}");
}
