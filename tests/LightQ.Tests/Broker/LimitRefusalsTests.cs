using LightQ.Broker;
using LightQ.Client;
using Xunit;

namespace LightQ.Tests.Broker;

public sealed class LimitRefusalsTests
{
    private readonly LimitRefusals _all = new();

    [Fact]
    public void A_section_counts_under_its_keys_and_names_them()
    {
        LimitRefusals section = _all.In("Broker");
        BrokerException refused = section.Exhausted("MaxTopics", 2, "There are 2 topics");
        Assert.Equal(ErrorCode.ResourceExhausted, refused.Code);
        Assert.Equal("There are 2 topics; the limit (Broker:MaxTopics) is 2.", refused.Message);
        Assert.Equal((1, 1), (section["MaxTopics"], _all["Broker:MaxTopics"]));
        Assert.Equal((0, 0), (_all["MaxTopics"], _all.In("Http")["MaxTopics"]));
    }

    [Fact]
    public void Whoever_listens_anywhere_hears_of_every_section_once()
    {
        var heard = new List<(string Setting, string Reason)>();
        LimitRefusals section = _all.In("Broker");
        section.Refused += OnRefused;
        _all.In("Http").Refuse("MaxCalls", 1, "As many calls are under way");
        section.Refused -= OnRefused;
        _all.Refuse("MaxWaitingLogins", 1, "Many wait");
        Assert.Equal([("Http:MaxCalls", "As many calls are under way; the limit (Http:MaxCalls) is 1.")], heard);

        void OnRefused(string setting, string reason) => heard.Add((setting, reason));
    }
}
