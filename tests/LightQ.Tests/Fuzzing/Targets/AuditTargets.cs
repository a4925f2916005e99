using System.Buffers;
using LightQ.Server.Audit;
using LightQ.Tests.Protocol;
using static LightQ.Tests.Fuzzing.FuzzInvariantException;

namespace LightQ.Tests.Fuzzing.Targets;

/// <summary>The audit log: its lines, and the texts beside and in them.</summary>
internal static class AuditTargets
{
    private static readonly string Hash = new('a', AuditLine.NoHash.Length);

    private static readonly AuditLine Line = new(
        7,
        DateTimeOffset.UnixEpoch.AddMicroseconds(Sample.Time),
        "right-granted",
        "admin",
        "control",
        "127.0.0.1:41234",
        "alice",
        "publish on orders.*",
        Hash,
        ""
    );

    public static IEnumerable<FuzzTarget> All()
    {
        yield return new FuzzTarget
        {
            Name = "audit-lines",
            What = "a line of the audit log, and written again",
            Parse = Lines,
            Seeds =
            [
                Written(Line),
                Written(
                    Line with
                    {
                        Sequence = 1,
                        Event = "file-removed",
                        Previous = AuditLine.NoHash,
                        Detail = new RemovedFile(1, 20, Hash).ToString(),
                    }
                ),
            ],
            Tokens = FuzzText.Bytes(
                "null",
                "\"seq\":",
                "\"time\":",
                "\\ud800",
                "\\u0000",
                "1e999",
                "{",
                "}",
                "\"",
                ","
            ),
            Seal = Seals.AuditLine,
            MaxLength = 900, // Shorter than what a field is cut to.
            GateExecutions = 50_000,
        };
        yield return new FuzzTarget
        {
            Name = "audit-texts",
            What = "the audit log's head, its files' names, and what it tells of removed ones",
            Parse = Texts,
            Seeds = FuzzText.Bytes(
                new AuditHead(7, Hash).ToString(),
                AuditFiles.NameOf(1),
                AuditFiles.NameOf(AuditLine.MaxSequence),
                new RemovedFile(1, 20, Hash).ToString()
            ),
            Tokens = FuzzText.Bytes(
                "lines ",
                " to ",
                ", ending in ",
                ":",
                "audit-",
                ".jsonl",
                "-1",
                "+1",
                "9007199254740992",
                "\u0661"
            ),
            MaxLength = 160,
        };
    }

    private static bool Lines(ReadOnlySpan<byte> input)
    {
        if (!AuditLine.TryRead(input, out AuditLine? line))
            return false;
        byte[] written = Written(line!);
        ThrowUnless(
            AuditLine.TryRead(written, out AuditLine? again) && again! with { Hash = "" } == line! with { Hash = "" },
            "a line that is written again says the same"
        );
        return true;
    }

    private static bool Texts(ReadOnlySpan<byte> input)
    {
        string text = FuzzText.Of(input);
        if (AuditHead.TryParse(text, out AuditHead head))
        {
            ThrowUnless(
                AuditHead.TryParse(head.ToString(), out AuditHead again)
                    && again == head
                    && head.ToBytes().Length == AuditHead.FileBytes,
                "a head that is written again is the same"
            );
        }
        else if (AuditFiles.TryParse(text, out long first))
        {
            ThrowUnless(AuditFiles.NameOf(first) == text, "a file's name is that of its first line");
        }
        else if (RemovedFile.TryParse(text, out RemovedFile removed))
        {
            ThrowUnless(
                RemovedFile.TryParse(removed.ToString(), out RemovedFile again) && again == removed,
                "a removed file that is written again is the same"
            );
        }
        else
        {
            return false;
        }

        return true;
    }

    /// <summary>A line without its newline.</summary>
    private static byte[] Written(AuditLine line)
    {
        var output = new ArrayBufferWriter<byte>();
        AuditLine.Write(output, line);
        return output.WrittenSpan[..^1].ToArray();
    }
}
