using LightQ.Broker.Groups;
using LightQ.Broker.Logs;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Batches;
using LightQ.Protocol.Frames;
using LightQ.Scheduling;
using LightQ.Storage;
using LightQ.Tests.Storage;
using Xunit;
using TopicKind = LightQ.Broker.Topics.TopicKind;

namespace LightQ.Tests.Broker;

/// <summary>
/// Consumers and groups that return to a journal which an unclean stop has cut, or that is another one.
/// </summary>
public sealed class ResumeTests : IStreamOwner, IAsyncDisposable
{
    private const int Kept = 4;
    private const int Seen = 7;

    private readonly JournalHost _host = new();
    private Partition? _partition;

    uint IStreamOwner.ConnectionId => 1;

    private Partition Partition => _partition!;

    void IStreamOwner.Schedule(OutputStream stream)
    {
        // The tests take by hand.
    }

    public ValueTask DisposeAsync() => _host.DisposeAsync();

    [Theory]
    [InlineData(Kept - 2, -1, -1)]
    [InlineData(Kept - 1, -1, -1)]
    [InlineData(Kept, Kept, Kept)]
    [InlineData(Seen - 1, Kept, Seen - 1)]
    public async Task What_a_consumer_saw_behind_the_cut_is_a_gap_also_when_the_log_has_grown_past_it(
        long last,
        long firstLost,
        long lastLost
    )
    {
        await CutAsync();
        _host.AppendDurable(100, 10);

        (List<LogGap> gaps, List<(long, int)> batches, long first) = Resume(last, epoch: 1, _host.Journal.Incarnation);

        Assert.Equal(firstLost < 0 ? [] : [new LogGap(firstLost, lastLost, GapReason.Truncated)], gaps);
        Assert.Equal(Math.Min(last + 1, Kept), first);
        Assert.Equal(Expected(first), batches);
    }

    [Fact]
    public async Task The_lowest_of_several_cuts_counts()
    {
        await CutAsync();
        _host.AppendDurable(100, 2);
        await _host.KillAsync();
        _host.Open();
        _host.AppendDurable(200, 5);
        (List<LogGap> gaps, _, long first) = Resume(Seen - 1, epoch: 1, _host.Journal.Incarnation);
        Assert.Equal([new LogGap(Kept, Seen - 1, GapReason.Truncated)], gaps);
        Assert.Equal(Kept, first);
        (gaps, _, first) = Resume(Kept + 1, epoch: 2, _host.Journal.Incarnation);
        Assert.Empty(gaps);
        Assert.Equal(Kept + 2, first);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(50)]
    public async Task A_log_that_was_made_anew_is_read_from_its_start_behind_a_gap(long last)
    {
        await CutAsync();
        _host.AppendDurable(100, 10);
        (List<LogGap> gaps, List<(long, int)> batches, long first) = Resume(last, epoch: 1, incarnation: 77);
        Assert.Equal([new LogGap(0, last, GapReason.Truncated)], gaps);
        Assert.Equal(0, first);
        Assert.Equal(Expected(0), batches);
    }

    [Fact]
    public async Task What_retention_took_as_well_is_a_gap_of_its_own()
    {
        await CutAsync();
        _host.AppendDurable(100, 300);
        _host.Journal.TruncateBefore(150);
        (List<LogGap> gaps, List<(long, int)> batches, long first) = Resume(50, epoch: 1, incarnation: 77);
        Assert.Equal([new LogGap(0, 50, GapReason.Truncated), new LogGap(51, 149, GapReason.Retention)], gaps);
        Assert.Equal((150, 150), (first, batches.First(b => b.Item1 >= 150).Item1));
    }

    [Theory]
    [InlineData(1u, Kept)]
    [InlineData(null, 14)]
    [InlineData(2u, 9)]
    public async Task A_group_whose_position_was_cut_off_goes_on_at_the_cut(uint? epoch, long committed)
    {
        await CutAsync();
        _host.AppendDurable(100, 10);
        Attach();
        long position = epoch == 2 ? 9 : 20;
        var group = new AutomaticGroup(Partition, "g", new GroupState(position, epoch, position));
        var member = new AutomaticMember(this, 1, Partition, group, StartKind.Committed, 0);
        member.Grant(1 << 20);
        (List<LogGap> gaps, List<(long, int)> batches) = Take(member);
        Assert.Equal(committed == position ? [] : [new LogGap(committed, position - 1, GapReason.Truncated)], gaps);
        Assert.Equal(Expected(committed), batches);
        Assert.True(group.TryTakeState(out GroupState kept));
        Assert.Equal(14, kept.Committed);
        member.Release();
    }

    [Fact]
    public async Task The_epochs_are_found_again_in_the_batches_when_their_file_is_lost()
    {
        await CutAsync();
        _host.AppendDurable(100, 10);
        await _host.CloseAsync();
        File.WriteAllBytes(_host.PathOf("epochs"), [1, 2, 3]);
        _host.Open();
        (List<LogGap> gaps, _, _) = Resume(Seen - 1, epoch: 1, _host.Journal.Incarnation);
        Assert.Equal([new LogGap(Kept, Seen - 1, GapReason.Truncated)], gaps);
    }

    /// <summary>
    /// Seven batches of which a power cut leaves four: the rest was one commit, torn in its first batch.
    /// </summary>
    private async Task CutAsync()
    {
        _host.Open();
        _host.AppendDurable(0, Kept);
        for (int i = Kept; i < Seen; i++)
            Assert.Equal(AppendResult.Appended, _host.Journal.TryAppend(TestBatch.Make(i), out _, out _));
        _host.Journal.Signal();
        _host.WaitDurable();
        await _host.KillAsync();
        string segment = _host.PathOf(_host.FileNames("*.seg")[0]);
        byte[] bytes = await File.ReadAllBytesAsync(segment, TestContext.Current.CancellationToken);
        bytes[4096 + (Kept * TestBatch.Make(0).Length) + 120] ^= 1;
        await File.WriteAllBytesAsync(segment, bytes, TestContext.Current.CancellationToken);
        Assert.Equal((Kept, 2u), (_host.Open().EndOffset, _host.Journal.LeaderEpoch));
    }

    private IEnumerable<(long, int)> Expected(long first) =>
        Enumerable
            .Range(0, Kept)
            .Concat(Enumerable.Range(100, (int)_host.Journal.EndOffset - Kept))
            .Select((number, offset) => ((long)offset, number))
            .Skip((int)first);

    private void Attach()
    {
        var topic = new Topic(
            "test",
            _host.Options.TopicId,
            DateTimeOffset.UnixEpoch,
            new TopicSettings { Kind = TopicKind.Durable, MaxMessageBytes = 1024 }
        );
        _partition = new Partition(topic, 0, TimeProvider.System) { Log = new JournalLog(_host.Journal) };
        topic.Partitions = [_partition];
    }

    private (List<LogGap> Gaps, List<(long Offset, int Number)> Batches, long First) Resume(
        long last,
        uint epoch,
        ulong incarnation
    )
    {
        Attach();
        var request = new SubscribeFrame(
            "test",
            0,
            "",
            StartKind.Offset,
            last + 1,
            last,
            epoch,
            incarnation,
            SettleMode.Automatic,
            SlowPolicy.Block,
            0
        );
        // A durable topic spills nothing.
        var subscription = new BroadcastSubscription(this, 1, Partition, request, SlowPolicy.Block, spills: null!);
        subscription.Grant(1 << 20);
        (List<LogGap> gaps, List<(long, int)> batches) = Take(subscription);
        long first = subscription.FirstOffset;
        subscription.Release();
        return (gaps, batches, first);
    }

    private (List<LogGap> Gaps, List<(long Offset, int Number)> Batches) Take(Subscription subscription)
    {
        var gaps = new List<LogGap>();
        var batches = new List<(long, int)>();
        _host.Wait(() =>
        {
            DeliveryResult result;
            using (TurnScope.Enter())
            {
                result = subscription.TryTake(out Delivery delivery);
                if (result == DeliveryResult.Gap)
                    gaps.Add(delivery.Gap);
                if (result == DeliveryResult.Run)
                {
                    foreach (BatchView batch in new BatchRun(delivery.Run.Memory.Span))
                        batches.Add((batch.BaseOffset, TestBatch.NumberOf(batch)));
                    subscription.Sent(delivery.Run);
                }
            }
            return result == DeliveryResult.Nothing && subscription.NextOffset == _host.Journal.EndOffset;
        });
        return (gaps, batches);
    }
}
