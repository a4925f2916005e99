using System.Diagnostics;
using System.Net.Http.Headers;
using System.Text;
using LightQ.Client;
using LightQ.Client.Administration;
using LightQ.Server.Audit;
using LightQ.Server.Security;
using LightQ.Storage.Segments;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.IntegrationTests.Faults;

/// <summary>
/// A broker of which everything is used that needs the disk, while the system refuses it what files of every kind need.
/// </summary>
internal sealed class ErrorMatrix(FaultBroker broker, LightQClient client, FaultRun run) : IAsyncDisposable
{
    private const string Jobs = "jobs",
        Workers = "workers",
        AuditFails = "The audit log cannot be written";
    private const int SettledAtOnce = 3,
        SmallBytes = 100;

    /// <summary>
    /// Of 288 KiB a segment: 40 of them fit into one, twice 40 never do, whatever the bodies' random sizes add up to.
    /// </summary>
    private const int LargeBytes = 6_000,
        LeastLargeBytes = 5_000;

    /// <summary>Ten times the second in which it is to be told.</summary>
    private static readonly TimeSpan Patience = TimeSpan.FromSeconds(10);

    private readonly HttpClient _web = new()
    {
        BaseAddress = new Uri($"http://127.0.0.1:{broker.WebPort}"),
        DefaultRequestHeaders =
        {
            Authorization = new AuthenticationHeaderValue(
                "Basic",
                Convert.ToBase64String(Encoding.UTF8.GetBytes($"{Authenticator.Admin}:{broker.AdminPassword}"))
            ),
        },
    };

    private readonly List<FaultTopic> _topics = [];
    private IAsyncEnumerator<Message>? _jobs;
    private long _settled;
    private int _publishers;

    /// <summary>Everything that should not have happened.</summary>
    public List<string> Violations { get; } = [];

    private static CancellationToken Cancelled => TestContext.Current.CancellationToken;

    /// <summary>Makes what all waves use.</summary>
    public async Task BeginAsync()
    {
        await client.Topics.CreateAsync(new TopicSpec(Jobs) { Kind = TopicKind.Durable }, Cancelled);
        await using Producer producer = await client.CreateProducerAsync(Jobs, cancellationToken: Cancelled);
        await Task.WhenAll(
            Enumerable.Range(0, 200).Select(_ => producer.PublishAsync("job"u8, cancellationToken: Cancelled).AsTask())
        );
        _jobs = client
            .ConsumeAsync(
                Jobs,
                new ConsumeOptions
                {
                    Group = Workers,
                    SettleMode = SettleMode.Explicit,
                    MaxInFlight = 1,
                }
            )
            .GetAsyncEnumerator(Cancelled);
    }

    /// <summary>Lets one wave pass over the broker and judges what it answers and tells.</summary>
    public async Task RunAsync(ErrorWave wave)
    {
        if (wave.Calls != "name" && !wave.IsForGood)
            await RunOnAuditAsync(wave);
        var change = new StateChange(client, wave.Name, broker.Directory, Violations);
        await change.PrepareAsync();
        // Made one after the other, so that each has a journal's thread of its own: strace counts by thread.
        FaultTopic segment = await MakeAsync(wave, "segment"),
            rest = await MakeAsync(wave, "rest"),
            roll = await MakeAsync(wave, "roll"),
            snapshot = await MakeAsync(wave, "snapshot");
        await PublishAsync(segment, 1);
        await Task.WhenAll(
            PublishAsync(roll, 40, LargeBytes, LeastLargeBytes),
            PublishAsync(snapshot, 40, LargeBytes, LeastLargeBytes)
        );
        int told = broker.LogLines.Count;
        Task<ErrorCode>[] publishing;
        SystemCallFault fault = await SystemCallFault.InjectAsync(
            broker.ProcessId,
            await FilesAsync(wave, segment, rest, roll, snapshot),
            wave.Injections
        );
        await using (fault)
        {
            long began = Stopwatch.GetTimestamp();
            publishing =
            [
                PublishAsync(segment, 1),
                PublishAsync(rest, 1),
                PublishAsync(roll, 40, LargeBytes, LeastLargeBytes),
                PublishAsync(snapshot, 40, LargeBytes, LeastLargeBytes),
            ];
            await Task.WhenAll(SettleAsync(), change.RunAsync());
            change.Judge(wave);
            foreach (string file in wave.Hits)
            {
                await EventuallyAsync(
                    wave,
                    $"no call on {file} is hit",
                    () => Task.FromResult(fault.Injected.Any(c => c.Contains(file, StringComparison.Ordinal)))
                );
            }

            await TellsAsync(wave, told, segment, rest);
            run.Figure(
                "told at the latest after ms",
                Math.Max(run["told at the latest after ms"], (long)Stopwatch.GetElapsedTime(began).TotalMilliseconds)
            );
            if (wave is { IsFull: true, IsForGood: true })
            {
                Expect(
                    await PublishAsync(segment, 1) == ErrorCode.DiskFull,
                    wave,
                    "a publish behind one that waits for space is not refused"
                );
            }
        }
        run.Count("calls that failed", fault.Injected.Count);
        ErrorCode[] ended = await Task.WhenAll(publishing).WaitAsync(Patience * 3, Cancelled);
        Dictionary<string, TopicInfo> topics = await TopicsAsync();
        JudgeTopic(
            wave,
            topics[segment.Spec.Name],
            ended[0],
            mustFail: !wave.IsFull && !wave.IsHarmless && wave.Calls != "name"
        );
        JudgeTopic(wave, topics[rest.Spec.Name], ended[1], mustFail: !wave.IsFull && !wave.IsHarmless);
        JudgeTopic(wave, topics[roll.Spec.Name], ended[2], mustFail: wave.Error == "EIO" ? true : null);
        bool isHit = fault.Injected.Any(c => c.Contains(SegmentName.Producers, StringComparison.Ordinal));
        Expect(
            // It can be made again where it cannot be written; a sync may have lost more than it.
            topics[snapshot.Spec.Name].Failure.Length != 0
                == (isHit && wave is { Error: "EIO", Calls: "sync" }),
            wave,
            $"{snapshot.Spec.Name} says '{topics[snapshot.Spec.Name].Failure}'"
        );
        await RecoversAsync(wave, topics);
        await change.CheckAsync(isExact: true);
        run.Count("waves");
    }

    /// <summary>The audit log alone has the error, in the thread that gets to it.</summary>
    private async Task RunOnAuditAsync(ErrorWave wave)
    {
        int told = broker.LogLines.Count;
        await using SystemCallFault fault = await SystemCallFault.InjectAsync(
            broker.ProcessId,
            AuditPaths(),
            wave.Injections
        );
        // Done, whatever becomes of its line.
        await client.Users.CreateAsync($"{wave.Name}-audited", password: null, Cancelled);
        await EventuallyAsync(
            wave,
            "no call on the audit log is hit",
            () => Task.FromResult(fault.Injected.Count != 0)
        );
        if (!wave.IsHarmless)
        {
            await EventuallyAsync(
                wave,
                $"the log does not say: {AuditFails}",
                () => Task.FromResult(LogSince(told).Contains(AuditFails, StringComparison.Ordinal))
            );
        }
    }

    /// <summary>A wave over catalog and positions in which the broker is killed.</summary>
    public async Task KillAsync(ErrorWave wave)
    {
        // On the disk when it returns, and with it what was settled.
        await client.Groups.PauseAsync(Jobs, Workers, Cancelled);
        await client.Groups.ResumeAsync(Jobs, Workers, Cancelled);
        long kept = _settled;
        var change = new StateChange(client, wave.Name + "-killed", broker.Directory, Violations);
        await change.PrepareAsync();
        string[] files = [.. StateFiles("catalog", wave), .. StateFiles("groups", wave)];
        await using (
            SystemCallFault fault = await SystemCallFault.InjectAsync(broker.ProcessId, files, wave.Injections)
        )
        {
            await Task.WhenAll(SettleAsync(), change.RunAsync());
            change.Judge(wave);
            await EventuallyAsync(
                wave,
                "positions are not told",
                async () => (await MetricsAsync()).Contains("lightq_positions_failed 1\n", StringComparison.Ordinal)
            );
            await _jobs!.DisposeAsync();
            await broker.KillAsync();
        }
        await broker.StartAsync();
        await change.CheckAsync(isExact: false);
        long committed = (await client.Groups.GetAsync(Jobs, Workers, Cancelled)).Partitions[0].CommittedOffset;
        if (committed < kept || committed > _settled)
        {
            Violations.Add(
                $"{wave.Name}: the group is at {committed}; {kept} were settled and stored before, {_settled} in all"
            );
        }
    }

    /// <summary>Starts behind a kill, of which the epochs of one topic cannot be written.</summary>
    public async Task StartAsync(string error)
    {
        var topic = new FaultTopic(new TopicSpec($"epochs-{error}".ToLowerInvariant()) { Kind = TopicKind.Durable });
        TopicInfo made = await client.Topics.CreateAsync(topic.Spec, Cancelled);
        _topics.Add(topic);
        await PublishAsync(topic, 5);
        await broker.KillAsync();
        string file = Path.Combine(DirectoryOf(made), "epochs");
        string[] injections =
        [
            $"pwrite64:error={error}:when=1+",
            "fdatasync:error=EINTR:when=1+2",
            "fsync:error=EINTR:when=1+2",
            "openat:error=EINTR:when=1+2",
        ];
        bool isFull = error != "EIO";
        SystemCallFault? fault = null;
        try
        {
            await broker.StartAsync(async process =>
                fault = await SystemCallFault.InjectAsync(process, [file, file + SegmentName.Temporary], injections)
            );
            string ready = await ReadyAsync();
            string expected = isFull ? "ready, degraded: for want of disk space 1 of" : "ready, degraded: 1 of";
            if (!ready.StartsWith(expected, StringComparison.Ordinal))
                Violations.Add($"{error} at the start: {ready}");
            TopicInfo found = (await TopicsAsync())[topic.Spec.Name];
            if (
                found.Failure.Length == 0 != isFull
                || found.Failure.Contains(broker.Directory, StringComparison.Ordinal)
            )
            {
                Violations.Add($"{error} at the start: the topic says '{found.Failure}'");
            }

            if (isFull && await PublishAsync(topic, 1) != ErrorCode.DiskFull)
                Violations.Add($"{error} at the start: a message was not refused");
        }
        finally
        {
            await (fault?.DisposeAsync() ?? ValueTask.CompletedTask);
        }
        run.Count("calls that failed", fault!.Injected.Count);
        if (isFull)
        {
            await EventuallyAsync(
                new ErrorWave(error, "start", true),
                "publishing does not resume",
                async () => await PublishAsync(topic, 1) == ErrorCode.None
            );
        }
    }

    /// <summary>Reads every topic and judges what was acknowledged of it.</summary>
    public async Task VerifyAsync()
    {
        var events = new List<AuditLine>();
        if (AuditVerifier.Verify(broker.Directory, read: events.Add).Finding is { } finding)
            Violations.Add($"the audit log: {finding}");
        foreach (ErrorWave wave in ErrorWave.All.Where(w => w.Calls != "name" && !w.IsForGood))
        {
            Expect(
                events.Exists(e => e.Subject == $"{wave.Name}-audited"),
                wave,
                "the audit log has lost what waited for the disk"
            );
        }

        Dictionary<string, TopicInfo> topics = await TopicsAsync();
        Violations.AddRange(
            topics.Values.Where(t => t.Failure.Length != 0).Select(t => $"{t.Name} is not recovered: {t.Failure}")
        );
        foreach (FaultTopic topic in _topics)
        {
            await topic.VerifyAsync(client, Durability.Fsync);
            run.Count("read back", topic.Verified);
            Violations.AddRange(topic.Ledger.Violations);
        }
    }

    public ValueTask DisposeAsync()
    {
        _web.Dispose();
        return ValueTask.CompletedTask;
    }

    /// <summary>What the broker must tell while the wave lasts, in its log, its readiness and its metrics.</summary>
    private async Task TellsAsync(ErrorWave wave, int told, FaultTopic segment, FaultTopic rest)
    {
        var log = new List<string>();
        var page = new List<string>();
        var ready = new List<string>();
        foreach (FaultTopic topic in wave.Calls == "name" ? [rest] : new[] { segment, rest })
        {
            log.Add(
                wave.IsFull
                    ? $"Topic {topic.Spec.Name} takes no messages on partition 0, for want of space"
                    : $"Topic {topic.Spec.Name} takes no messages: partition 0: "
            );
            page.Add(
                $"{(wave.IsFull ? "lightq_topic_disk_full" : "lightq_topic_failed")}{{topic=\"{topic.Spec.Name}\"}} 1\n"
            );
        }
        ready.Add(wave.IsFull ? "for want of disk space" : "topics have failed");
        if (wave.HitsState)
        {
            log.AddRange([
                "The catalog cannot be stored",
                "The positions of groups cannot be stored",
                .. wave.IsForGood ? new[] { AuditFails } : [],
            ]);
            page.AddRange(["lightq_catalog_failed 1\n", "lightq_positions_failed 1\n", "lightq_audit_failed 1\n"]);
            ready.AddRange([
                "the catalog cannot be stored",
                "the positions of groups cannot be stored",
                "the audit log cannot be written",
            ]);
        }
        if (wave.IsHarmless)
        {
            Expect(!LogSince(told).Contains("fail:", StringComparison.Ordinal), wave, "an error was logged");
            return;
        }
        foreach (string line in log)
        {
            await EventuallyAsync(
                wave,
                $"the log does not say: {line}",
                () => Task.FromResult(LogSince(told).Contains(line, StringComparison.Ordinal))
            );
        }
        // What happened once may be over by now.
        foreach (
            string line in wave.IsForGood
                ? page
                : page.Where(l => l.StartsWith("lightq_topic_failed", StringComparison.Ordinal))
        )
        {
            await EventuallyAsync(
                wave,
                $"the metrics do not say: {line}",
                async () => (await MetricsAsync()).Contains(line, StringComparison.Ordinal)
            );
        }

        foreach (string words in wave.IsForGood ? ready : ready.Where(_ => !wave.IsFull).Take(1))
        {
            await EventuallyAsync(
                wave,
                $"ready does not say: {words}",
                async () => (await ReadyAsync()).Contains(words, StringComparison.Ordinal)
            );
        }
    }

    /// <summary>
    /// What has failed stays so until a restart; all else is as it was soon after the system works again.
    /// </summary>
    private async Task RecoversAsync(ErrorWave wave, Dictionary<string, TopicInfo> topics)
    {
        int failed = topics.Values.Count(t => t.Failure.Length != 0);
        string expected = failed == 0 ? "ready\n" : $"ready, degraded: {failed} of {topics.Count} topics have failed\n";
        await EventuallyAsync(
            wave,
            "what had been refused is not made good",
            async () => await ReadyAsync() == expected
        );
        string page = await MetricsAsync();
        foreach (
            string line in new[]
            {
                "lightq_catalog_failed 0\n",
                "lightq_positions_failed 0\n",
                "lightq_audit_failed 0\n",
            }
        )
        {
            Expect(page.Contains(line, StringComparison.Ordinal), wave, $"the metrics do not say: {line}");
        }
    }

    private void JudgeTopic(ErrorWave wave, TopicInfo topic, ErrorCode ended, bool? mustFail)
    {
        bool hasFailed = topic.Failure.Length != 0;
        Expect(mustFail is null || mustFail == hasFailed, wave, $"{topic.Name} says '{topic.Failure}'");
        // One that begins a segment is told at once that there is no space for it; what is accepted already waits.
        bool mayRefuse = wave.Error is "ENOSPC" or "EDQUOT" && mustFail is null;
        Expect(
            hasFailed
                ? ended is ErrorCode.TopicFailed or ErrorCode.OutcomeUnknown
                : ended == ErrorCode.None || (mayRefuse && ended == ErrorCode.DiskFull),
            wave,
            $"publishing to {topic.Name} ended with {ended}, and it says '{topic.Failure}'"
        );
        Expect(
            !topic.Failure.Contains(broker.Directory, StringComparison.Ordinal),
            wave,
            $"a path is told: {topic.Failure}"
        );
    }

    private async Task<FaultTopic> MakeAsync(ErrorWave wave, string kind)
    {
        var topic = new FaultTopic(
            new TopicSpec($"{wave.Name}-{kind}")
            {
                Kind = TopicKind.Durable,
                MaxMessageBytes = 8 * 1024,
                SegmentBytes = 288 * 1024,
            }
        );
        await client.Topics.CreateAsync(topic.Spec, Cancelled);
        _topics.Add(topic);
        return topic;
    }

    private async Task<ErrorCode> PublishAsync(
        FaultTopic topic,
        int count,
        int mostBytes = SmallBytes,
        int leastBytes = 0
    )
    {
        Random random = run.RandomFor(Interlocked.Increment(ref _publishers));
        try
        {
            await using Producer producer = await client.CreateProducerAsync(
                topic.Spec.Name,
                cancellationToken: CancellationToken.None
            );
            for (int i = 0; i < count; i++)
            {
                (SentMessage message, byte[] body) = topic.Ledger.Create(
                    topic.Producers++,
                    random,
                    mostBytes,
                    leastBytes
                );
                PublishAck ack = await producer.PublishAsync(body, cancellationToken: CancellationToken.None);
                message.Acknowledge(ack.Offset, ack.Durability);
                run.Count("acknowledged");
            }
            return ErrorCode.None;
        }
        catch (LightQException e)
        {
            return e.Code;
        }
    }

    private async Task SettleAsync()
    {
        for (int i = 0; i < SettledAtOnce; i++)
        {
            Assert.True(await _jobs!.MoveNextAsync());
            Assert.Equal(SettleOutcome.Done, await _jobs.Current.CompleteAsync(Cancelled));
            _settled = _jobs.Current.Offset + 1;
        }
    }

    /// <summary>The files that a wave is about.</summary>
    private async Task<string[]> FilesAsync(
        ErrorWave wave,
        FaultTopic segment,
        FaultTopic rest,
        FaultTopic roll,
        FaultTopic snapshot
    )
    {
        Dictionary<string, TopicInfo> topics = await TopicsAsync();
        string rolling = DirectoryOf(topics[roll.Spec.Name]);
        IEnumerable<string> Next(string directory, string extension) =>
            Enumerable
                .Range(2, 2)
                .Select(ordinal => Path.Combine(directory, SegmentName.Of(ordinal, extension)))
                .SelectMany(path => (string[])[path, path + SegmentName.Temporary]);
        return
        [
            Newest(DirectoryOf(topics[segment.Spec.Name])),
            Path.Combine(DirectoryOf(topics[rest.Spec.Name]), "checkpoint"),
            rolling,
            .. Next(rolling, SegmentName.Log),
            .. Next(DirectoryOf(topics[snapshot.Spec.Name]), SegmentName.Producers),
            .. StateFiles("catalog", wave),
            .. StateFiles("groups", wave),
            .. AuditPaths(),
        ];
    }

    private string[] AuditPaths()
    {
        string audit = Path.Combine(broker.Directory, AuditFiles.DirectoryName);
        return
        [
            Path.Combine(audit, AuditFiles.Among(Directory.GetFiles(audit).Select(f => Path.GetFileName(f)))[^1].Name),
            Path.Combine(audit, AuditHead.FileName),
        ];
    }

    /// <summary>
    /// The file of a journal of records; for good also the next ones, so that beginning anew does not help.
    /// </summary>
    private IEnumerable<string> StateFiles(string name, ErrorWave wave)
    {
        string directory = Path.Combine(broker.Directory, name),
            newest = Newest(directory);
        yield return newest;
        SegmentName.TryParse(Path.GetFileName(newest), SegmentName.Log, out long generation);
        for (long next = generation + 1; wave.IsForGood && next <= generation + 3; next++)
        {
            yield return Path.Combine(directory, SegmentName.Of(next, SegmentName.Log));
            yield return Path.Combine(directory, SegmentName.Of(next, SegmentName.Log) + SegmentName.Temporary);
        }
    }

    private string DirectoryOf(TopicInfo topic) => Path.Combine(broker.Directory, "topics", topic.Id, "0");

    private static string Newest(string directory) =>
        Directory.GetFiles(directory, "*" + SegmentName.Log).Max(StringComparer.Ordinal)!;

    private async Task<Dictionary<string, TopicInfo>> TopicsAsync()
    {
        var topics = new Dictionary<string, TopicInfo>();
        await foreach (TopicInfo topic in client.Topics.ListAsync(Cancelled))
            topics.Add(topic.Name, topic);
        return topics;
    }

    private Task<string> ReadyAsync() => _web.GetStringAsync("/healthz/ready", Cancelled);

    private Task<string> MetricsAsync() => _web.GetStringAsync("/metrics", Cancelled);

    private string LogSince(int line) => string.Join('\n', broker.LogLines.Skip(line));

    private void Expect(bool isSo, ErrorWave wave, string otherwise)
    {
        if (!isSo)
            Violations.Add($"{wave.Name}: {otherwise}");
    }

    private async Task EventuallyAsync(ErrorWave wave, string otherwise, Func<Task<bool>> condition)
    {
        for (long began = Stopwatch.GetTimestamp(); !await condition(); await Task.Delay(5, Cancelled))
        {
            if (Stopwatch.GetElapsedTime(began) <= Patience)
                continue;
            Violations.Add($"{wave.Name}: {otherwise}; ready is '{(await ReadyAsync()).TrimEnd()}'");
            return;
        }
    }
}
