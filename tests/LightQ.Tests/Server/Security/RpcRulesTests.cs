using Google.Protobuf;
using Google.Protobuf.Reflection;
using Grpc.Core;
using LightQ.Protocol.Control;
using LightQ.Server.Security;
using Xunit;

namespace LightQ.Tests.Server.Security;

public sealed class RpcRulesTests
{
    private static readonly FileDescriptor[] Files =
    [
        .. typeof(TopicsReflection)
            .Assembly.GetTypes()
            .Where(t =>
                t.Namespace == typeof(TopicsReflection).Namespace
                && t.Name.EndsWith("Reflection", StringComparison.Ordinal)
            )
            .Select(t => (FileDescriptor)t.GetProperty("Descriptor")!.GetValue(null)!),
    ];

    private static IEnumerable<MethodDescriptor> Methods =>
        Files.SelectMany(f => f.Services).SelectMany(s => s.Methods);

    [Fact]
    public void Every_rpc_of_every_proto_has_a_rule_and_no_rule_is_without_one()
    {
        string[] methods = [.. Methods.Select(FullName).Order(StringComparer.Ordinal)];
        Assert.True(methods.Length >= 30, $"only {methods.Length} rpcs were found");
        Assert.Equal(methods, RpcRules.All.Keys.Order(StringComparer.Ordinal));
    }

    [Fact]
    public void A_method_without_a_rule_has_none()
    {
        Assert.Null(RpcRules.Find("/lightq.control.v1.Auth/Nonsense"));
        Assert.Null(RpcRules.Find("/lightq.control.v1.Auth/"));
        Assert.Null(RpcRules.Find("/grpc.reflection.v1.ServerReflectionX/Y"));
        Assert.Equal(RpcAccess.Open, RpcRules.Find("/grpc.health.v1.Health/Check")!.Access);
    }

    [Theory]
    [InlineData(
        "lightq.control.v1.Auth",
        "Nonsense",
        MethodType.Unary,
        "No rule says who may call /lightq.control.v1.Auth/Nonsense."
    )]
    [InlineData(
        "lightq.control.v1.Messages",
        "Publish",
        MethodType.DuplexStreaming,
        "The rule of /lightq.control.v1.Messages/Publish, which is DuplexStreaming, is Topic."
    )]
    [InlineData(
        "lightq.control.v1.Messages",
        "Consume",
        MethodType.ServerStreaming,
        "The rule of /lightq.control.v1.Messages/Consume, which is ServerStreaming, is Stream."
    )]
    public void A_method_that_no_rule_fits_does_not_start(string service, string name, MethodType type, string expected)
    {
        Marshaller<string> text = Marshallers.StringMarshaller;
        var method = new Method<string, string>(type, service, name, text, text);
        Assert.Equal(expected, Assert.Throws<InvalidOperationException>(() => RpcRules.Check([method])).Message);
    }

    /// <summary>A rule that reads the wrong field would let the wrong topic decide.</summary>
    [Fact]
    public void A_rule_reads_the_field_that_names_the_topic()
    {
        foreach (MethodDescriptor method in Methods)
        {
            RpcRule rule = RpcRules.Find(FullName(method))!;
            FieldDescriptor? field =
                method.InputType.FindFieldByName("topic")
                ?? (method.Service.Name == "Topics" ? method.InputType.FindFieldByName("name") : null);
            bool isOnTopic = rule.Access is RpcAccess.Topic or RpcAccess.Sight or RpcAccess.FilteredSight;
            Assert.True(
                isOnTopic == field is not null || rule.Access == RpcAccess.Stream,
                $"{method.FullName} is {rule.Access}"
            );
            if (!isOnTopic)
                continue;
            IMessage request = method.InputType.Parser.ParseFrom(ByteString.Empty);
            field!.Accessor.SetValue(request, "here");
            Assert.Equal("here", rule.TopicOf!(request));
        }
    }

    /// <summary>Only these say nothing of anybody; whoever adds one has to say so here.</summary>
    [Fact]
    public void Nothing_but_login_is_open() =>
        Assert.Equal(
            ["/lightq.control.v1.Auth/Login"],
            RpcRules.All.Where(r => r.Value.Access == RpcAccess.Open).Select(r => r.Key)
        );

    private static string FullName(MethodDescriptor method) => $"/{method.Service.FullName}/{method.Name}";
}
