using LightQ.Server;
using LightQ.Server.Audit;
using Xunit;

namespace LightQ.Tests.Server.Audit;

/// <summary>Whatever is done to a line, or to a file, is found, and told where and what it is.</summary>
public sealed class AuditVerifierTests
{
    /// <summary>Long enough that a few dozen lines fill several files.</summary>
    private static readonly string Long = new('x', 900);

    [Fact]
    public async Task What_was_written_is_verified_over_all_files()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(200, Long);
        Assert.True(audit.Files.Length > 2);
        AuditReport report = audit.Verify();
        Assert.Null(report.Finding);
        Assert.Equal(
            (201, 1L, 201L, 0L),
            ((int)report.Lines, report.First, report.Head!.Value.Sequence, report.TornBytes)
        );
    }

    [Fact]
    public async Task Every_single_line_that_is_altered_removed_or_exchanged_is_found()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(70, Long);
        string[] files = audit.Files;
        Assert.Equal(2, files.Length);
        var random = new Random(7);
        foreach (string path in files)
        {
            string[] lines = File.ReadAllText(path).Split('\n')[..^1];
            for (int i = 0; i < lines.Length; i++)
            {
                string name = Path.GetFileName(path);
                Expect(audit, path, Altered(lines, i, random), AuditFault.Altered, name, i + 1);
                AuditFinding removed = Find(audit, path, [.. lines.Where((_, n) => n != i)]);
                Assert.Equal(AuditFault.Missing, removed.Fault);
                if (i + 1 < lines.Length)
                {
                    Expect(
                        audit,
                        path,
                        Exchanged(lines, i, i + 1),
                        AuditFault.Reordered,
                        name,
                        i + 1,
                        orMissing: path == files[0] && i == 0
                    );
                }

                if (i + 5 < lines.Length)
                {
                    Expect(
                        audit,
                        path,
                        Exchanged(lines, i, i + 5),
                        AuditFault.Reordered,
                        name,
                        i + 1,
                        orMissing: i == 0 && path == files[0]
                    );
                }

                Expect(
                    audit,
                    path,
                    [.. lines[..(i + 1)], lines[i], .. lines[(i + 1)..]],
                    AuditFault.Reordered,
                    name,
                    i + 2
                );
            }
            File.WriteAllText(path, string.Join('\n', lines) + '\n');
        }
        Assert.Null(audit.Verify().Finding);
    }

    [Fact]
    public async Task Every_byte_of_a_line_counts()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(3);
        byte[] text = await File.ReadAllBytesAsync(audit.Files[0], TestContext.Current.CancellationToken);
        for (int i = 0; i < text.Length; i++) // About 1,600.
        {
            byte[] altered = [.. text];
            altered[i] ^= 1;
            await File.WriteAllBytesAsync(audit.Files[0], altered, TestContext.Current.CancellationToken);
            Assert.NotNull(audit.Verify().Finding);
        }
    }

    [Fact]
    public async Task A_line_that_somebody_has_written_anew_with_a_hash_of_its_own_does_not_fit_in()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(5);
        string[] lines = await File.ReadAllLinesAsync(audit.Files[0], TestContext.Current.CancellationToken);
        Assert.True(AuditLine.TryRead(System.Text.Encoding.UTF8.GetBytes(lines[2]), out AuditLine? line));
        var output = new System.Buffers.ArrayBufferWriter<byte>();
        AuditLine.Write(output, line! with { Subject = "mallory" });
        lines[2] = System.Text.Encoding.UTF8.GetString(output.WrittenSpan).TrimEnd();
        Expect(audit, audit.Files[0], lines, AuditFault.Altered, Path.GetFileName(audit.Files[0]), 4);
    }

    [Fact]
    public async Task A_file_that_is_gone_is_missed_wherever_it_was()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(130, Long);
        foreach (string path in audit.Files.Append(Path.Combine(audit.Path, AuditHead.FileName)))
        {
            File.Move(path, path + ".away");
            Assert.Equal(AuditFault.Missing, audit.Verify().Finding!.Fault);
            File.Move(path + ".away", path);
        }
        Assert.Null(audit.Verify().Finding);
        AuditHead head = audit.Verify().Head!.Value;
        Assert.Null(audit.Verify(expected: head).Finding);
        Assert.Equal(AuditFault.Missing, audit.Verify(expected: head with { Hash = AuditLine.NoHash }).Finding!.Fault);
    }

    [Fact]
    public async Task Files_that_the_broker_itself_has_removed_are_not_missed_and_others_are()
    {
        using var audit = new AuditDirectory
        {
            Options = new AuditOptions { FileBytes = 64 * 1024, MaxFiles = 3 },
        };
        await audit.WriteAsync(400, Long);
        Assert.Equal(3, audit.Files.Length);
        AuditReport report = audit.Verify();
        Assert.Null(report.Finding);
        Assert.True(report.First > 100);
        File.Delete(audit.Files[0]);
        Assert.Contains(
            "does not say that the broker has removed them",
            audit.Verify().Finding!.Detail,
            StringComparison.Ordinal
        );
    }

    [Fact]
    public void A_path_without_a_log_is_said_to_be_one()
    {
        using var audit = new AuditDirectory();
        Assert.Throws<FileNotFoundException>(() => audit.Verify());
    }

    private static void Expect(
        AuditDirectory audit,
        string path,
        string[] lines,
        AuditFault fault,
        string file,
        int line,
        bool orMissing = false
    )
    {
        AuditFinding finding = Find(audit, path, lines);
        Assert.True(finding.Fault == fault || (orMissing && finding.Fault == AuditFault.Missing), finding.ToString());
        Assert.Equal((file, line), (finding.File, finding.LineInFile));
    }

    /// <summary>What is found when the file has these lines; the file is then as before.</summary>
    private static AuditFinding Find(AuditDirectory audit, string path, string[] lines)
    {
        byte[] before = File.ReadAllBytes(path);
        File.WriteAllText(path, lines.Length == 0 ? "" : string.Join('\n', lines) + '\n');
        AuditReport report = audit.Verify();
        File.WriteAllBytes(path, before);
        Assert.NotNull(report.Finding);
        return report.Finding;
    }

    private static string[] Altered(string[] lines, int index, Random random)
    {
        string[] altered = [.. lines];
        int at = random.Next(lines[index].Length);
        altered[index] = lines[index][..at] + (char)(lines[index][at] ^ 1) + lines[index][(at + 1)..];
        return altered;
    }

    private static string[] Exchanged(string[] lines, int a, int b)
    {
        string[] exchanged = [.. lines];
        (exchanged[a], exchanged[b]) = (exchanged[b], exchanged[a]);
        return exchanged;
    }
}
