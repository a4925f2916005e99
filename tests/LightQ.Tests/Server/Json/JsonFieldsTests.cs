using System.Text;
using Google.Protobuf;
using LightQ.Broker;
using LightQ.Protocol.Control;
using LightQ.Server.Json;
using Xunit;

namespace LightQ.Tests.Server.Json;

/// <summary>What a request in JSON may say, and which field an error names.</summary>
public sealed class JsonFieldsTests
{
    private static readonly JsonRoute Publish = JsonRoutes.All.Single(r => r.Method.Name == "Publish");
    private static readonly JsonRoute Republish = JsonRoutes.All.Single(r => r.Method.Name == "Republish");

    [Theory]
    [InlineData("""{"body":"+/9h"}""")]
    [InlineData("""{"body":"-_9h"}""")]
    [InlineData("""{"body":"+_9h"}""")]
    public void Bytes_are_base64_of_either_alphabet(string message) =>
        Assert.Equal([0xFB, 0xFF, 0x61], ReadOne(message).Body.ToByteArray());

    [Theory]
    [InlineData("""{"body":"YQ=="}""", "a")]
    [InlineData("""{"body":"YQ"}""", "a")]
    [InlineData("""{"body":""}""", "")]
    [InlineData("""{"bodyText":"ä \"1\""}""", "ä \"1\"")]
    [InlineData("""{"body_text":"a"}""", "a")]
    [InlineData("""{"bodyText":null}""", "")]
    public void Bytes_need_no_padding_and_may_be_text(string message, string body) =>
        Assert.Equal(body, ReadOne(message).Body.ToStringUtf8());

    [Fact]
    public void Keys_and_headers_and_edits_may_be_text_too_and_a_byte_order_mark_is_passed_over()
    {
        PublishedMessage message = ReadOne("""{"keyText":"k","headers":[{"name":"n","valueText":"v"}]}""");
        Assert.Equal(("k", "v"), (message.Key.ToStringUtf8(), message.Headers[0].Value.ToStringUtf8()));
        var edit = (RepublishRequest)Read(
            Republish,
            [0xEF, 0xBB, 0xBF, .. Encoding.UTF8.GetBytes("""{"edit":{"keyText":"k","bodyText":"b"}}""")]
        );
        Assert.Equal(("k", "b"), (edit.Edit.Key.ToStringUtf8(), edit.Edit.Body.ToStringUtf8()));
    }

    [Theory]
    [InlineData("""{"body":"hello!"}""", "messages[0].body is no base64; a text is written as messages[0].bodyText.")]
    [InlineData("""{"body":"YQ==="}""", "messages[0].body is no base64")]
    [InlineData("""{"body":"Y"}""", "messages[0].body is no base64")]
    [InlineData("""{"body":{"id":1}}""", "messages[0].body is an object; wanted is base64.")]
    [InlineData("""{"bodyText":1}""", "messages[0].bodyText is 1; wanted is a text.")]
    [InlineData("""{"body":"YQ","bodyText":"a"}""", "messages[0].bodyText is there besides body")]
    [InlineData("""{"bodyText":"a","body":"YQ"}""", "messages[0].body is there besides body")]
    [InlineData("""{"tombstone":"yes"}""", "messages[0].tombstone is 'yes'; wanted is true or false.")]
    [InlineData("""{"delay":5}""", "messages[0].delay is 5; wanted is a duration like 1.5s.")]
    [InlineData("""{"deliverTime":"tomorrow"}""", "messages[0].deliverTime is 'tomorrow'; wanted is a time like")]
    [InlineData("""{"headers":{"a":"b"}}""", "messages[0].headers is an object; wanted is a list.")]
    [InlineData("""{"headers":[{"name":1}]}""", "messages[0].headers[0].name is 1; wanted is a text.")]
    [InlineData("""{"headers":[{"id":-1}]}""", "messages[0].headers[0].id is -1; wanted is a number of its range.")]
    [InlineData("""{"headers":[{"id":1.5}]}""", "messages[0].headers[0].id is 1.5; wanted is a number of its range.")]
    [InlineData("""{"boddy":"YQ"}""", "boddy")]
    [InlineData("""{"bodyText":"\ud800"}""", "in JSON")]
    public void An_error_names_the_field(string message, string says) =>
        Assert.Contains(says, Assert.Throws<BrokerException>(() => ReadOne(message)).Message, StringComparison.Ordinal);

    [Theory]
    [InlineData("""{"ack_level":"FAST"}""", "ack_level is 'FAST'; wanted is one of DURABILITY_LEVEL_UNSPECIFIED, ")]
    [InlineData("""{"messages":[null]}""", "in JSON")]
    [InlineData("""{"messages":"a"}""", "messages is 'a'; wanted is a list.")]
    [InlineData("[]", "The body is no PublishRequest in JSON: it is a list")]
    [InlineData("{} {}", "in JSON")]
    [InlineData("{", "in JSON")]
    public void So_does_one_of_the_request_itself(string body, string says) =>
        Assert.Contains(
            says,
            Assert.Throws<BrokerException>(() => Read(Publish, Encoding.UTF8.GetBytes(body))).Message,
            StringComparison.Ordinal
        );

    private static PublishedMessage ReadOne(string message) =>
        ((PublishRequest)Read(Publish, Encoding.UTF8.GetBytes($$"""{"messages":[{{message}}]}"""))).Messages.Single();

    private static IMessage Read(JsonRoute route, byte[] body) =>
        JsonRequest.Read(route, route.PathFields.ToDictionary(f => f.Name, object? (_) => "t"), [], body);
}
