using System.Collections.Concurrent;
using Google.Protobuf.Reflection;
using LightQ.Server.Security;

namespace LightQ.Server.Control;

/// <summary>What is looked for in the bytes of a message before objects are made of them. Immutable.</summary>
internal sealed class RequestShape
{
    private static readonly ConcurrentDictionary<string, RequestShape> ByMethod = new(StringComparer.Ordinal);

    private readonly Dictionary<int, RequestShape> _messages = [];
    private readonly HashSet<int> _packed = [];
    private int _topic;

    /// <summary>The shape of a method's request.</summary>
    /// <remarks>
    /// Made when the first long request comes: the descriptors of all methods take a quarter of a broker's start.
    /// </remarks>
    /// <param name="method"><c>/package.Service/Method</c>.</param>
    public static RequestShape Of(string method) => ByMethod.GetOrAdd(method, Make);

    /// <summary>The shape of a field's messages; null for what is none, or unknown.</summary>
    public RequestShape? MessageOf(int field) => _messages.GetValueOrDefault(field);

    /// <summary>Whether a field is a list of numbers that may stand side by side in one piece.</summary>
    public bool IsPacked(int field) => _packed.Contains(field);

    /// <summary>Whether a field names the topic on which the method demands its right.</summary>
    public bool IsTopic(int field) => field == _topic;

    private static RequestShape Make(string method)
    {
        string[] parts = method.Split('/');
        MessageDescriptor? type = ControlServices
            .Shown()
            .Append(Protocol.Control.Letters.Descriptor)
            .FirstOrDefault(s => s.FullName == parts[1])
            ?.FindMethodByName(parts[2])
            ?.InputType;
        var made = new Dictionary<MessageDescriptor, RequestShape>();
        RequestShape shape = type is null ? new RequestShape() : Of(type, made);
        if (type is null || RpcRules.Find(method) is not { HasTopic: true } rule)
            return shape;
        // A stream's topic is in the message that opens it.
        MessageDescriptor naming = rule.Access == RpcAccess.Stream ? type.Fields[1].MessageType : type;
        made[naming]._topic = (naming.FindFieldByName("topic") ?? naming.FindFieldByName("name")).FieldNumber;
        return shape;
    }

    private static RequestShape Of(MessageDescriptor type, Dictionary<MessageDescriptor, RequestShape> made)
    {
        if (made.TryGetValue(type, out RequestShape? shape))
            return shape;
        made.Add(type, shape = new RequestShape());
        foreach (FieldDescriptor field in type.Fields.InFieldNumberOrder())
        {
            if (field.FieldType is FieldType.Message or FieldType.Group)
                shape._messages.Add(field.FieldNumber, Of(field.MessageType, made));
            else if (field.IsRepeated && field.FieldType is not (FieldType.String or FieldType.Bytes))
                shape._packed.Add(field.FieldNumber);
        }
        return shape;
    }
}
