using System.Buffers;
using System.Collections;
using System.Text;
using Google.Protobuf;
using Google.Protobuf.Reflection;
using LightQ.Protocol.Control;
using LightQ.Server.Control;
using LightQ.Server.Json;
using LightQ.Server.Security;
using Xunit;

namespace LightQ.Tests.Server.Control;

/// <summary>What requests would become is known before objects are made of them, of every rpc.</summary>
public sealed class RequestScanTests
{
    private const int Many = 2000;

    /// <summary>Each list in a request, as METHOD and the fields that lead there.</summary>
    public static TheoryData<string, string> Lists
    {
        get
        {
            var lists = new TheoryData<string, string>();
            foreach (MethodDescriptor method in Methods)
            {
                foreach (string path in ListsOf(method.InputType, "", []))
                    lists.Add(NameOf(method), path);
            }
            return lists;
        }
    }

    /// <summary>Each rpc that is decided by the topic in its request.</summary>
    public static TheoryData<string> OfTopics => [.. RpcRules.All.Where(r => r.Value.HasTopic).Select(r => r.Key)];

    private static IEnumerable<MethodDescriptor> Methods =>
        ControlServices.Shown().Append(Letters.Descriptor).SelectMany(s => s.Methods);

    [Fact]
    public void There_are_lists_to_count() => Assert.InRange(Lists.Count, 12, 1000);

    [Theory]
    [MemberData(nameof(Lists))]
    public void Every_list_of_every_request_is_counted_before_objects_are_made(string method, string path)
    {
        IMessage request = Fill(MethodOf(method).InputType, path.Split('.'), Many);
        byte[] bytes = request.ToByteArray();
        RequestScan whole = RequestScan.Of(new(bytes), RequestShape.Of(method), int.MaxValue);
        Assert.InRange(whole.Elements, Many, Many + 10);
        Assert.InRange(RequestScan.Of(new(bytes), RequestShape.Of(method), 1000).Elements, 1001, whole.Elements);
        Assert.Equal(whole.Elements, RequestScan.Of(Pieces(bytes, 7), RequestShape.Of(method), int.MaxValue).Elements);
        byte[] json = Encoding.UTF8.GetBytes(JsonFormatter.Default.Format(request));
        Assert.InRange(JsonScan.Count(json, int.MaxValue), Many, (2 * Many) + 20);
        Assert.Equal(1001, JsonScan.Count(json, 1000));
    }

    [Theory]
    [MemberData(nameof(Lists))]
    public void What_an_element_becomes_is_no_more_than_it_counts(string method, string path)
    {
        byte[] bytes = Fill(MethodOf(method).InputType, path.Split('.'), Many).ToByteArray();
        MessageParser parser = MethodOf(method).InputType.Parser;
        parser.ParseFrom(bytes);
        long before = GC.GetAllocatedBytesForCurrentThread();
        parser.ParseFrom(bytes);
        long made = GC.GetAllocatedBytesForCurrentThread() - before;
        Assert.InRange(made, 0, (Many * RequestScan.ElementBytes) + (2 * bytes.Length) + 4096);
    }

    [Fact]
    public void Fields_that_nobody_knows_are_counted_too()
    {
        var bytes = new MemoryStream();
        using (var output = new CodedOutputStream(bytes, leaveOpen: true))
        {
            for (int field = 100; field < 100 + Many; field++)
            {
                output.WriteTag(field, WireFormat.WireType.Varint);
                output.WriteInt32(1);
            }
        }
        RequestShape shape = RequestShape.Of("/lightq.control.v1.Auth/Login");
        Assert.Equal(Many, RequestScan.Of(new(bytes.ToArray()), shape, int.MaxValue).Elements);
    }

    [Theory]
    [MemberData(nameof(OfTopics))]
    public void The_topic_is_found_in_the_bytes_as_in_the_message(string method)
    {
        RpcRule rule = RpcRules.All[method];
        MessageDescriptor type = MethodOf(method).InputType;
        IMessage request = type.Parser.ParseFrom(ByteString.Empty);
        IMessage naming = request;
        if (rule.Access == RpcAccess.Stream)
        {
            naming = type.Fields[1].MessageType.Parser.ParseFrom(ByteString.Empty);
            type.Fields[1].Accessor.SetValue(request, naming);
        }
        FieldDescriptor field = naming.Descriptor.FindFieldByName("topic") ?? naming.Descriptor.FindFieldByName("name");
        field.Accessor.SetValue(naming, "orders");
        byte[] bytes = request.ToByteArray();
        Assert.Equal("orders", RequestScan.Of(Pieces(bytes, 3), RequestShape.Of(method), int.MaxValue).Topic);
        if (rule.TopicOf is { } topicOf)
            Assert.Equal("orders", topicOf(request));
    }

    [Theory]
    [InlineData("{\"a\": [1, 2, {\"b\": \"x\"}]}", 8)]
    [InlineData("[[],[],{}]", 4)]
    [InlineData("{\"a\": \"{,:[\"}", 3)]
    [InlineData("nonsense [,{:", 4)]
    [InlineData("", 0)]
    public void A_text_has_as_many_elements_as_names_and_values(string text, int elements) =>
        Assert.Equal(elements, JsonScan.Count(Encoding.UTF8.GetBytes(text), int.MaxValue));

    [Fact]
    public void Bytes_that_are_no_message_end_a_scan()
    {
        RequestShape shape = RequestShape.Of("/lightq.control.v1.Messages/Publish");
        var random = new Random(5);
        for (int i = 0; i < 20_000; i++)
        {
            byte[] bytes = new byte[random.Next(200)];
            random.NextBytes(bytes);
            Assert.InRange(RequestScan.Of(Pieces(bytes, 5), shape, int.MaxValue).Elements, 0, bytes.Length);
        }
    }

    private static MethodDescriptor MethodOf(string name) => Methods.Single(m => NameOf(m) == name);

    private static string NameOf(MethodDescriptor method) => $"/{method.Service.FullName}/{method.Name}";

    private static IEnumerable<string> ListsOf(MessageDescriptor type, string before, MessageDescriptor[] above)
    {
        if (above.Contains(type))
            yield break;
        foreach (FieldDescriptor field in type.Fields.InFieldNumberOrder())
        {
            string path = before + field.Name;
            if (field.IsRepeated)
                yield return path;
            if (field.FieldType != FieldType.Message)
                continue;
            foreach (string inner in ListsOf(field.MessageType, path + ".", [.. above, type]))
                yield return inner;
        }
    }

    /// <summary>A message with so many entries, each empty, in the list that a path leads to.</summary>
    private static IMessage Fill(MessageDescriptor type, ReadOnlySpan<string> path, int entries)
    {
        IMessage message = type.Parser.ParseFrom(ByteString.Empty);
        FieldDescriptor field = type.FindFieldByName(path[0]);
        if (path.Length > 1)
        {
            IMessage inner = Fill(field.MessageType, path[1..], entries);
            if (field.IsRepeated)
                ((IList)field.Accessor.GetValue(message)).Add(inner);
            else
                field.Accessor.SetValue(message, inner);
            return message;
        }
        var list = (IList)field.Accessor.GetValue(message);
        for (int i = 0; i < entries; i++)
            list.Add(EntryOf(field));
        return message;
    }

    private static object EntryOf(FieldDescriptor field) =>
        field.FieldType switch
        {
            FieldType.Message => field.MessageType.Parser.ParseFrom(ByteString.Empty),
            FieldType.String => "",
            FieldType.Bytes => ByteString.Empty,
            FieldType.Int64 => 0L,
            FieldType.UInt32 => 0u,
            _ => throw new NotSupportedException($"{field.FullName} is a list of {field.FieldType}."),
        };

    private static ReadOnlySequence<byte> Pieces(byte[] bytes, int size)
    {
        if (bytes.Length == 0)
            return default;
        var first = new Piece(bytes.AsMemory(0, Math.Min(size, bytes.Length)), 0);
        Piece last = first;
        for (int at = size; at < bytes.Length; at += size)
            last = last.Append(bytes.AsMemory(at, Math.Min(size, bytes.Length - at)));
        return new ReadOnlySequence<byte>(first, 0, last, last.Memory.Length);
    }

    private sealed class Piece : ReadOnlySequenceSegment<byte>
    {
        public Piece(ReadOnlyMemory<byte> memory, long at) => (Memory, RunningIndex) = (memory, at);

        public Piece Append(ReadOnlyMemory<byte> memory)
        {
            var next = new Piece(memory, RunningIndex + Memory.Length);
            Next = next;
            return next;
        }
    }
}
