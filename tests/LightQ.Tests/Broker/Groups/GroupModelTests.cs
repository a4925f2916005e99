using LightQ.Broker.Groups;
using LightQ.Broker.Subscriptions;
using LightQ.Broker.Topics;
using LightQ.Client;
using LightQ.Protocol.Frames;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Broker.Groups;

/// <summary>Random lives of a group, each step checked against <see cref="GroupModel"/>.</summary>
[Trait("Tier", "C")]
public sealed class GroupModelTests
{
    private const int StepsPerRun = 80,
        RunsPerBroker = 20,
        MostMessages = 60,
        MostMembers = 4;

    [Fact]
    public async Task Whatever_members_do_every_message_is_delivered_as_the_model_says()
    {
        var faults = new FaultRun("groups", "random lives of a group beside a model");
        int runs = FaultRun.Times(plain: 15, c: 200, n: 20_000),
            seed = faults.Seed;
        for (int run = 0; run < runs; )
        {
            await using GroupHost host = await GroupHost.OpenAsync();
            for (int i = 0; i < RunsPerBroker && run < runs; i++, run++)
            {
                try
                {
                    await new Life(host, new Random(seed + run), run).LiveAsync();
                }
                catch (Exception e) when (e is not OperationCanceledException)
                {
                    throw new InvalidOperationException(
                        $"Run {run} of seed {seed} (LIGHTQ_SEED={seed + run} repeats it as the first).",
                        e
                    );
                }
            }
        }
    }

    private sealed class Life
    {
        private readonly GroupHost _host;
        private readonly Random _random;
        private readonly DeliverySettings _settings;
        private readonly GroupModel[] _models;
        private readonly List<Consumer> _consumers = [];
        private readonly string _topic;
        private uint _lastConsumer;

        public Life(GroupHost host, Random random, int run)
        {
            (_host, _random, _topic) = (host, random, $"run-{run}");
            _settings = new DeliverySettings
            {
                LockDuration = TimeSpan.FromSeconds(random.Next(2, 20)),
                MaxDeliveries = random.Next(2) == 0 ? 0 : random.Next(1, 4),
                RetryDelay = TimeSpan.FromSeconds(random.Next(0, 3)),
                MaxRetryDelay = TimeSpan.FromSeconds(4),
            };
            int partitions = random.Next(3) == 0 ? 3 : 1;
            _models = [.. Enumerable.Range(0, partitions).Select(_ => new GroupModel(_settings))];
            host.CreateTopic(_topic, _settings, (uint)partitions);
        }

        private DateTimeOffset Now => _host.Time.GetUtcNow();

        public async Task LiveAsync()
        {
            Join();
            for (int step = 0; step < StepsPerRun; step++)
                await StepAsync();
            await DrainAsync();
            await CheckEndAsync();
            while (_consumers.Count > 0)
                Leave(_consumers[0], isOrderly: true);
        }

        private async Task StepAsync()
        {
            switch (_random.Next(20))
            {
                case < 3 when _models.Sum(m => m.Count) < MostMessages:
                    await PublishAsync();
                    break;
                case 3 when _consumers.Count < MostMembers:
                    Join();
                    break;
                case 4 when _consumers.Count > 0:
                    Leave(Any(_consumers), isOrderly: _random.Next(2) == 0);
                    break;
                case 5:
                    Advance(TimeSpan.FromMilliseconds(_random.Next(0, 8000)));
                    break;
                case 6 when _random.Next(8) == 0:
                    await RestartAsync();
                    break;
                case < 13:
                    Take();
                    break;
                case 13 when _consumers.Count > 0:
                    AskForMore(Any(_consumers));
                    break;
                default:
                    Settle();
                    break;
            }
        }

        private async Task PublishAsync()
        {
            int partition = _random.Next(_models.Length),
                messages = _random.Next(1, 9);
            await _host.PublishAsync(_topic, (uint)partition, messages);
            _models[partition].Publish(messages);
        }

        private void Join()
        {
            var consumer = new Consumer(
                ++_lastConsumer,
                (uint)(_random.Next(3) == 0 ? 0 : _random.Next(1, 5)),
                Any<uint>([0, 1, 2, SubscribeFrame.AllAtATime]),
                _models.Length
            );
            for (uint partition = 0; partition < _models.Length; partition++)
            {
                consumer.Members[partition] = _host.Join(
                    _topic,
                    partition,
                    consumer.MaxInFlight,
                    consumer.Number,
                    consumer.AtATime
                );
            }

            _consumers.Add(consumer);
        }

        private void Leave(Consumer consumer, bool isOrderly)
        {
            _consumers.Remove(consumer);
            for (int partition = 0; partition < _models.Length; partition++)
            {
                if (isOrderly)
                    GroupHost.Leave(consumer.Members[partition]);
                else
                    GroupHost.Lose(consumer.Members[partition]);
                _models[partition].Leave(consumer.Members[partition], isOrderly, Now);
            }
        }

        private async Task RestartAsync()
        {
            while (_consumers.Count > 0)
                Leave(_consumers[0], isOrderly: _random.Next(2) == 0);
            // What is on its way to the dead-letter topic when a broker stops comes again.
            for (int i = 0; i < _models.Length; i++)
            {
                int partition = i;
                await GroupHost.EventuallyAsync(() =>
                    _host.GroupOf(_topic, partition).Figures().DeadLettersWaiting == 0
                );
            }
            await _host.RestartAsync();
            foreach (LightQ.Broker.Topics.Partition partition in _host.Broker.GetTopic(_topic).Partitions)
            {
                Assert.Equal(
                    _models[partition.Index].Committed,
                    _host
                        .Broker.Groups.Find(partition.Topic, GroupHost.GroupName)
                        .Single(g => g.Partition == partition)
                        .Committed
                );
            }
        }

        private void AskForMore(Consumer consumer)
        {
            for (int partition = 0; partition < _models.Length; partition++)
            {
                Subscription member = consumer.Members[partition];
                member.TryResize(new WindowFrame(consumer.MaxInFlight, consumer.AtATime));
                consumer.WaitsForRoom[partition] = consumer.IsFull(_models[partition].InFlight(member));
            }
            if (Holds(consumer))
                consumer.Join();
        }

        private bool Holds(Consumer consumer) =>
            consumer.Members.Select((m, i) => _models[i].InFlight(m)).Any(n => n != 0);

        /// <summary>Notes that what it had alone is settled, and that it holds nothing.</summary>
        private void Refresh(Consumer consumer)
        {
            if (
                consumer.Alone is { } alone
                && !_models[alone.Partition].IsHeld(consumer.Members[alone.Partition], alone.Id)
            )
            {
                (consumer.Alone, consumer.Until) = (null, null);
            }

            consumer.Joins &= Holds(consumer);
        }

        private void Take()
        {
            if (_consumers.Count == 0)
                return;
            Take(Any(_consumers), _random.Next(_models.Length));
        }

        private bool Take(Consumer consumer, int partition)
        {
            Subscription member = consumer.Members[partition];
            GroupModel model = _models[partition];
            Group group = _host.GroupOf(_topic, partition);
            bool mayTake = _models.Length == 1 || (group.Assignee == member && !model.IsHeldByOthers(member)),
                hasRoom = consumer.MaxInFlight == 0 || model.InFlight(member) < (int)consumer.MaxInFlight,
                isAlone = model.IsNextAlone(Now);
            consumer.WaitsForRoom[partition] &= !consumer.HasHalfOfItsRoom(model.InFlight(member));
            hasRoom &= !consumer.WaitsForRoom[partition];
            Refresh(consumer);
            bool hasWithdrawn = consumer.EmptiesFor == partition;
            if (hasWithdrawn)
                consumer.EmptiesFor = null;
            mayTake &= hasRoom && consumer.Alone is null && consumer.EmptiesFor is null;
            if (mayTake && isAlone && !consumer.Joins && !consumer.HasWaited && Holds(consumer))
            {
                (consumer.EmptiesFor, mayTake) = (partition, false);
                consumer.Until ??= Now + Shorter(TimeSpan.FromSeconds(5));
            }
            else if ((mayTake && isAlone && !consumer.Joins) || (hasWithdrawn && consumer.Alone is null))
            {
                (consumer.HasWaited, consumer.Until) = (false, null);
            }

            GroupDelivery taken = _host.Take(_topic, partition, member);
            model.Take(member, taken, consumer.MaxInFlight, mayTake, consumer.Says, Now);
            if (taken.Count == 0)
                return false;
            consumer.WaitsForRoom[partition] = consumer.IsFull(model.InFlight(member));
            if (isAlone && !consumer.Joins)
            {
                consumer.Alone = (partition, taken.DeliveryId);
                consumer.Until = consumer.AsksForMore ? null : Now + Shorter(TimeSpan.FromSeconds(30));
            }

            Assert.True(_models.Length == 1 || !model.IsHeldByOthers(member), "two members hold one partition");
            consumer.Taken[partition].Add((taken, Now));
            return true;
        }

        private TimeSpan Shorter(TimeSpan time) =>
            time < _settings.LockDuration / 4 ? time : _settings.LockDuration / 4;

        private void Settle()
        {
            if (_consumers.Count == 0)
                return;
            Consumer consumer = Any(_consumers);
            int partition = _random.Next(_models.Length);
            if (consumer.Taken[partition].Count == 0)
                return;
            int index = _random.Next(consumer.Taken[partition].Count);
            GroupDelivery taken = consumer.Taken[partition][index].Delivery;
            int skip = _random.Next((int)taken.Count);
            uint count = (uint)_random.Next(1, (int)taken.Count - skip + 1);
            var kind = (SettleKind)_random.Next(1, 7);
            if (_random.Next(3) == 0)
                kind = SettleKind.Complete;
            else if (_random.Next(3) == 0)
                kind = SettleKind.Begin;
            Settle(
                consumer,
                partition,
                kind,
                taken,
                taken.FirstOffset + skip,
                count,
                (uint)(_random.Next(2) == 0 ? 0 : _random.Next(1, 5000))
            );
        }

        private void Settle(
            Consumer consumer,
            int partition,
            SettleKind kind,
            GroupDelivery taken,
            long first,
            uint count,
            uint delay
        )
        {
            bool hasExpired = consumer.Expired.Contains((partition, taken.DeliveryId));
            SettleOutcome expected = _models[partition]
                .Settle(
                    consumer.Members[partition],
                    kind,
                    taken.DeliveryId,
                    first,
                    count,
                    kind == SettleKind.Abandon ? delay : 0,
                    Now,
                    hasExpired
                );
            Assert.Equal(
                expected,
                GroupHost.Settle(
                    consumer.Members[partition],
                    kind,
                    taken,
                    first,
                    count,
                    kind == SettleKind.Abandon ? delay : 0
                )
            );
        }

        private void Advance(TimeSpan by)
        {
            DateTimeOffset until = Now + by;
            _host.Time.Advance(by);
            foreach (Consumer consumer in _consumers)
            {
                Refresh(consumer);
                if (consumer.Until > until || consumer.Until is null)
                    continue;
                if (consumer.Alone is not null)
                    consumer.Join();
                else
                    (consumer.HasWaited, consumer.Until) = (true, null);
            }

            // A delivery with open messages whose lock has run out is remembered as such; one that is settled is not
            // known any more.
            for (int partition = 0; partition < _models.Length; partition++)
            {
                foreach (Consumer consumer in _consumers)
                {
                    consumer.Expired.UnionWith(
                        _models[partition].ExpiredOf(consumer.Members[partition], until).Select(id => (partition, id))
                    );
                }

                _models[partition].Expire(until);
            }
        }

        private async Task DrainAsync()
        {
            if (_consumers.Count == 0)
                Join();
            for (int rounds = 0; _models.Any(m => m.Left.Any()); rounds++)
            {
                Assert.True(rounds < 10_000, "the group does not come to an end");
                bool any = false;
                foreach (Consumer consumer in _consumers)
                {
                    for (int partition = 0; partition < _models.Length; partition++)
                    {
                        while (Take(consumer, partition))
                        {
                            any = true;
                            GroupDelivery taken = consumer.Taken[partition][^1].Delivery;
                            Settle(consumer, partition, SettleKind.Complete, taken, taken.FirstOffset, taken.Count, 0);
                        }
                    }
                }
                if (!any && _models.Select(m => m.NextTime(Now)).Min() is { } next)
                    Advance(next - Now);
            }
            await Task.CompletedTask;
        }

        private async Task CheckEndAsync()
        {
            for (int partition = 0; partition < _models.Length; partition++)
            {
                GroupModel model = _models[partition];
                Group group = _host.GroupOf(_topic, partition);
                await GroupHost.EventuallyAsync(() => group.Committed == model.Count);
                Assert.Equal(model.Count, model.Committed);
                Assert.Equal(
                    Enumerable.Range(0, model.Count).Select(i => (long)i),
                    _host.ReadAllBroadcast(_topic, partition)
                );
            }
            (int Partition, long Offset)[] given =
            [
                .. _models.SelectMany((m, partition) => m.GivenUp.Select(offset => (partition, offset))).Order(),
            ];
            if (given.Length != 0)
                Assert.Equal(given, await _host.ReadDeadLettersAsync(_topic, given.Length));
        }

        private T Any<T>(List<T> items) => items[_random.Next(items.Count)];

        private sealed record Consumer(uint Number, uint MaxInFlight, uint AtATime, int Partitions)
        {
            public bool Says => AtATime != 0;

            public bool AsksForMore => AtATime is not (0 or SubscribeFrame.AllAtATime);

            /// <summary>Whether it gets everything beside what it holds, until it holds nothing.</summary>
            public bool Joins { get; set; }

            /// <summary>Whether it waited for long enough to get a message alone.</summary>
            public bool HasWaited { get; set; }

            /// <summary>When that is so, or it has a message alone no longer.</summary>
            public DateTimeOffset? Until { get; set; }

            /// <summary>What it has alone.</summary>
            public (int Partition, uint Id)? Alone { get; set; }

            /// <summary>The partition that waits until it holds nothing.</summary>
            public int? EmptiesFor { get; set; }

            public Subscription[] Members { get; } = new Subscription[Partitions];

            /// <summary>Where it was full, and gets nothing until half of what waits there is worked off.</summary>
            public bool[] WaitsForRoom { get; } = new bool[Partitions];

            public List<(GroupDelivery Delivery, DateTimeOffset Time)>[] Taken { get; } =
            [.. Enumerable.Range(0, Partitions).Select(_ => new List<(GroupDelivery, DateTimeOffset)>())];

            public HashSet<(int Partition, uint DeliveryId)> Expired { get; } = [];

            public void Join() => (Joins, Alone, EmptiesFor, HasWaited, Until) = (true, null, null, false, null);

            public bool IsFull(int inFlight) =>
                MaxInFlight != 0 && inFlight >= (int)MaxInFlight && !HasHalfOfItsRoom(inFlight);

            public bool HasHalfOfItsRoom(int inFlight) =>
                !Says || inFlight <= AtATime + (Math.Max(0, (int)MaxInFlight - (int)AtATime) / 2);
        }
    }
}
