using System.Net;
using LightQ.Server.Audit;
using LightQ.Server.Security;
using Xunit;

namespace LightQ.Tests.Server.Audit;

public sealed class AuditLogTests
{
    [Fact]
    public async Task What_is_waited_for_is_on_the_disk_when_it_is_answered()
    {
        using var audit = new AuditDirectory();
        var done = new List<string>();
        audit.Disk.Before = (operation, _) => done.Add(operation);
        await using AuditLog log = audit.Open();
        await log.WriteAsync(AuditDirectory.Change(1));
        Assert.Contains("sync", done.Skip(done.LastIndexOf("write") < 0 ? 0 : done.IndexOf("write")));
        AuditLine line = audit.Lines()[^1];
        Assert.Equal(
            (
                2L,
                "right-granted",
                "admin",
                "control",
                "127.0.0.1:40000",
                "user-1",
                "publish on orders.*",
                audit.Time.GetUtcNow()
            ),
            (line.Sequence, line.Event, line.Actor, line.Plane, line.Peer, line.Subject, line.Detail, line.Time)
        );
    }

    /// <summary>The log is cut at every byte of its last line, as a crash in the middle of it would.</summary>
    [Fact]
    public async Task A_crash_in_the_middle_of_a_line_is_told_from_damage_and_the_log_goes_on()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(2);
        string path = audit.Files[0],
            headPath = Path.Combine(audit.Path, AuditHead.FileName);
        byte[] before = await File.ReadAllBytesAsync(path, TestContext.Current.CancellationToken),
            head = await File.ReadAllBytesAsync(headPath, TestContext.Current.CancellationToken);
        await audit.WriteAsync(1);
        byte[] after = await File.ReadAllBytesAsync(path, TestContext.Current.CancellationToken);
        for (int length = before.Length; length < after.Length; length++)
        {
            await File.WriteAllBytesAsync(path, after[..length], TestContext.Current.CancellationToken);
            await File.WriteAllBytesAsync(headPath, head, TestContext.Current.CancellationToken);
            AuditReport torn = audit.Verify();
            Assert.Null(torn.Finding);
            Assert.Equal((3, length - before.Length), (torn.Lines, torn.TornBytes));
            await audit.WriteAsync(1);
            AuditReport report = audit.Verify();
            Assert.Null(report.Finding);
            Assert.Equal((length == before.Length ? 4 : 5, 0), (report.Lines, report.TornBytes));
            Assert.Equal(length > before.Length, audit.Lines().Any(l => l.Event == "tail-cut"));
        }
    }

    [Fact]
    public async Task A_start_that_finds_lines_missing_says_so_for_good()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(5);
        string[] lines = await File.ReadAllLinesAsync(audit.Files[0], TestContext.Current.CancellationToken);
        await File.WriteAllTextAsync(
            audit.Files[0],
            string.Join('\n', lines[..^2]) + '\n',
            TestContext.Current.CancellationToken
        );
        await audit.WriteAsync(1);
        AuditFinding finding = audit.Verify().Finding!;
        Assert.Equal((AuditFault.Missing, "lines 5 to 6 are gone"), (finding.Fault, finding.Detail));
    }

    [Fact]
    public async Task A_start_that_finds_its_last_line_altered_begins_behind_it()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(5);
        string text = await File.ReadAllTextAsync(audit.Files[0], TestContext.Current.CancellationToken);
        await File.WriteAllTextAsync(
            audit.Files[0],
            text.Replace("user-4", "user-x", StringComparison.Ordinal),
            TestContext.Current.CancellationToken
        );
        await audit.WriteAsync(1);
        Assert.Equal(AuditFault.Altered, audit.Verify().Finding!.Fault);
        Assert.Equal(2, audit.Files.Length);
        Assert.Contains(
            "chain-broken",
            await File.ReadAllTextAsync(audit.Files[1], TestContext.Current.CancellationToken),
            StringComparison.Ordinal
        );
    }

    [Fact]
    public async Task A_flood_of_refused_logins_is_summarised()
    {
        using var audit = new AuditDirectory();
        await using (AuditLog log = audit.Open(audit.Time))
        {
            for (int i = 0; i < 50_000; i++)
            {
                log.Write(
                    new SecurityEvent(
                        SecurityAction.LoginRefused,
                        "alice",
                        new Origin("data", new IPEndPoint(new IPAddress([10, 0, 0, (byte)(i % 3)]), 1000 + (i % 5000))),
                        Detail: "password"
                    )
                );
            }
        }
        IReadOnlyList<AuditLine> lines = audit.Lines();
        Assert.Equal(100, lines.Count(l => l.Event == "login-refused"));
        AuditLine summary = Assert.Single(lines, l => l.Event == "logins-summarised");
        Assert.Equal("login-refused", summary.Subject);
        Assert.StartsWith("49900 from 3 addresses, most from 10.0.0.", summary.Detail, StringComparison.Ordinal);
    }

    [Fact]
    public async Task While_the_disk_takes_nothing_events_wait_and_nobody_waits_for_them()
    {
        using var audit = new AuditDirectory();
        bool isFull = true;
        audit.Disk.Before = (operation, path) =>
        {
            if (
                Volatile.Read(ref isFull)
                && operation is "write" or "sync"
                && path.EndsWith(".jsonl", StringComparison.Ordinal)
                && isFull
            )
            {
                throw new IOException("No space left on device");
            }
        };
        await using (AuditLog log = audit.Open())
        {
            for (int i = 0; i < 10; i++)
            {
                await log.WriteAsync(AuditDirectory.Change(i))
                    .WaitAsync(TimeSpan.FromSeconds(4), TestContext.Current.CancellationToken);
            }

            Volatile.Write(ref isFull, false);
        }
        Assert.Equal(
            Enumerable.Range(0, 10).Select(i => $"user-{i}"),
            audit.Lines().Where(l => l.Event == "right-granted").Select(l => l.Subject)
        );
    }

    /// <summary>
    /// After a sync that failed, the system may have dropped what it was to write: it is written again.
    /// </summary>
    [Fact]
    public async Task What_could_not_be_synced_is_written_again()
    {
        using var audit = new AuditDirectory();
        await audit.WriteAsync(1);
        bool hasFailed = false;
        audit.Disk.Before = (operation, path) =>
        {
            if (operation == "sync" && path.EndsWith(".jsonl", StringComparison.Ordinal) && !hasFailed)
            {
                hasFailed = true;
                using FileStream file = File.OpenWrite(path);
                file.Seek(-40, SeekOrigin.End);
                file.Write(new byte[40]); // As if the pages had never been written.
                throw new IOException("Input/output error");
            }
        };
        await audit.WriteAsync(2);
        Assert.True(hasFailed);
        Assert.Equal(4, audit.Lines().Count);
    }

    [Fact]
    public async Task Names_from_outside_are_kept_as_text_whatever_they_are()
    {
        using var audit = new AuditDirectory();
        string hostile = "\"},{\n\r\0\u202Eevil\uD800" + new string('y', 100_000);
        await using (AuditLog log = audit.Open())
        {
            await log.WriteAsync(
                new SecurityEvent(SecurityAction.UserCreated, hostile, Origin.Broker, hostile, hostile)
            );
        }

        Assert.Equal(2, audit.Lines().Count);
        Assert.All(
            await File.ReadAllBytesAsync(audit.Files[0], TestContext.Current.CancellationToken),
            b => Assert.True(b is (byte)'\n' or >= 32 and < 127)
        );
    }
}
