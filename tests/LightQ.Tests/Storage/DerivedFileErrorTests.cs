using LightQ.Storage;
using LightQ.Storage.Files;
using Xunit;

namespace LightQ.Tests.Storage;

/// <summary>
/// The disk refuses files that are made of the segments again, an index or a snapshot of producers: the topic stays in
/// service, and says which file it was.
/// </summary>
public sealed class DerivedFileErrorTests
{
    private const int Batches = 400;

    [Theory]
    [InlineData(".idx", "open")]
    [InlineData(".idx", "write")]
    [InlineData(".producers.tmp", "open")]
    [InlineData(".producers.tmp", "write")]
    [InlineData(".producers", "rename")]
    public async Task A_file_that_cannot_be_written_takes_no_topic_out_of_service(string file, string operation)
    {
        await using JournalHost host = MakeHost();
        Refuse(host, file, operation);
        Fill(host);
        Assert.All(
            host.Refused,
            name => Assert.StartsWith(file[..4], Path.GetExtension(name), StringComparison.Ordinal)
        );
        Assert.NotEmpty(host.Refused);
        Assert.Equal(Enumerable.Range(0, Batches), host.ReadAll());
        await host.CloseAsync();

        host.Files.Before = (_, _) => { };
        host.Open();
        Assert.Equal(Enumerable.Range(0, Batches), host.ReadAll());
        Assert.Equal(Enumerable.Range(250, Batches - 250), host.ReadAll(250));
    }

    [Theory]
    [InlineData(".idx", true)]
    [InlineData(".idx", false)]
    [InlineData(".producers", true)]
    [InlineData(".producers", false)]
    public async Task A_file_that_cannot_be_read_takes_no_topic_out_of_service(string file, bool isClosed)
    {
        await using JournalHost host = MakeHost();
        Fill(host);
        await (isClosed ? host.CloseAsync() : host.KillAsync());
        Refuse(host, file, "read");
        Journal journal = host.Open(new Visitor());
        Assert.Equal(Enumerable.Range(0, Batches), host.ReadAll());
        Assert.Equal(Enumerable.Range(3, Batches - 3), host.ReadAll(3));
        Assert.Equal(Enumerable.Range(250, Batches - 250), host.ReadAll(250));
        string[] said = [.. journal.Rebuilt, .. host.Refused];
        Assert.Contains(said, line => line.Contains(file, StringComparison.Ordinal));
        host.AppendDurable(Batches, 1);
        Assert.Null(journal.Failure);
    }

    [Fact]
    public async Task A_sync_that_fails_excuses_nothing_since_it_may_have_lost_something_else()
    {
        await using JournalHost host = MakeHost();
        Refuse(host, ".producers.tmp", "sync");
        host.Open();
        for (int i = 0; host.Journal.Failure is null && i < Batches; i++)
        {
            host.Journal.TryAppend(TestBatch.Make(i), out _, out _);
            host.Journal.Signal();
            host.Wait(() => host.Journal.IsIdle || host.Journal.Failure is not null);
        }
        host.Wait(() => host.Journal.Failure is not null);
    }

    private static JournalHost MakeHost() =>
        new(options => options with { ProducerSnapshot = () => [1, 2, 3], SegmentBytes = 16 * 1024 });

    private static void Fill(JournalHost host)
    {
        host.Open();
        for (int i = 0; i < Batches; i++)
            host.Append(i);
        host.WaitDurable();
        host.Wait(() => host.Journal.IsIdle);
        Assert.Null(host.Journal.Failure);
        Assert.True(host.FileNames("*.seg").Length > 3);
    }

    private static void Refuse(JournalHost host, string file, string operation) =>
        host.Files.Before = (what, path) =>
        {
            if (what == operation && path.EndsWith(file, StringComparison.Ordinal))
            {
                throw new StorageIOException(operation == "sync" ? StorageIOException.Sync : operation, path, error: 5);
            }
        };

    private sealed class Visitor : IRecoveredBatchVisitor
    {
        public void OnSnapshot(ReadOnlySpan<byte> snapshot) { }

        public void OnBatch(in LightQ.Protocol.Batches.BatchView header) { }
    }
}
