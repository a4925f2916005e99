using System.Text.Json;
using LightQ.Cli.Servers;
using LightQ.Tests.Shared;
using Xunit;

namespace LightQ.Tests.Cli.Servers;

public sealed class RestCollectorTests : IDisposable
{
    private readonly ManualTime _time = new();
    private readonly RestCollector _collector;
    private TimeSpan _used = TimeSpan.FromSeconds(7);
    private long _moved;
    private long _allocated;
    private long _left;
    private int _collections;

    public RestCollectorTests() =>
        _collector = new RestCollector(_time, () => _moved, () => _used, () => _allocated, Collect);

    public void Dispose() => _collector.Dispose();

    [Fact]
    public void What_was_allocated_is_collected_once_at_rest()
    {
        _allocated = RestCollector.LeastGarbage;

        Pass(share: 0);
        Assert.Equal(0, _collections);
        Pass(share: 0);
        Assert.Equal(1, _collections);

        Pass(share: 0, periods: 5);
        Assert.Equal(1, _collections);
    }

    [Fact]
    public void Nothing_is_collected_while_there_is_work()
    {
        _allocated = 100 * RestCollector.LeastGarbage;

        Pass(share: RestCollector.RestShare, periods: 3);
        Pass(share: 0.01);
        Pass(share: 0.5);
        Pass(share: 0.01);
        Assert.Equal(0, _collections);

        Pass(share: 0.01);
        Assert.Equal(1, _collections);
    }

    [Fact]
    public void One_message_is_enough_to_wait_for()
    {
        _allocated = RestCollector.LeastGarbage;
        Pass(share: 0);
        _moved++;
        Pass(share: 0);
        Assert.Equal(0, _collections);

        Pass(share: 0);
        Assert.Equal(1, _collections);
    }

    [Fact]
    public void The_tool_runs_with_a_first_generation_of_16_MiB()
    {
        using var settings = JsonDocument.Parse(
            File.ReadAllBytes(Path.ChangeExtension(typeof(RestCollector).Assembly.Location, ".runtimeconfig.json"))
        );

        Assert.Equal(
            16 << 20,
            settings
                .RootElement.GetProperty("runtimeOptions")
                .GetProperty("configProperties")
                .GetProperty("System.GC.Gen0MaxBudget")
                .GetInt32()
        );
    }

    [Fact]
    public void Little_garbage_is_left_alone()
    {
        _allocated = RestCollector.LeastGarbage - 1;

        Pass(share: 0, periods: 5);

        Assert.Equal(0, _collections);
    }

    [Fact]
    public void Where_much_is_in_use_more_garbage_may_gather()
    {
        _left = 5 * RestCollector.LeastGarbage;
        _allocated = RestCollector.LeastGarbage;
        Pass(share: 0, periods: 2);

        _allocated += _left - 1;
        Pass(share: 0, periods: 5);
        Assert.Equal(1, _collections);

        _allocated++;
        Pass(share: 0, periods: 2);
        Assert.Equal(2, _collections);
    }

    private void Pass(double share, int periods = 1)
    {
        for (; periods > 0; periods--)
        {
            _used += share * RestCollector.Period;
            _time.Advance(RestCollector.Period);
        }
    }

    private long Collect()
    {
        _collections++;
        return _left;
    }
}
