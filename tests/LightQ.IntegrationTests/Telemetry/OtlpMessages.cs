using Google.Protobuf;

namespace LightQ.IntegrationTests.Telemetry;

/// <summary>A measurement as it travels.</summary>
/// <param name="Resource">Attributes of the resource.</param>
/// <param name="Scope">The meter's name and version, and its tags.</param>
/// <param name="Name">The instrument's name.</param>
/// <param name="Unit">Its unit.</param>
/// <param name="Description">What it says.</param>
/// <param name="IsSum">A counter or up-down counter; otherwise a gauge.</param>
/// <param name="IsMonotonic">A counter.</param>
/// <param name="Tags">The measurement's tags.</param>
/// <param name="Value">The value.</param>
internal sealed record OtlpPoint(
    IReadOnlyDictionary<string, object> Resource,
    OtlpScope Scope,
    string Name,
    string Unit,
    string Description,
    bool IsSum,
    bool IsMonotonic,
    IReadOnlyDictionary<string, object> Tags,
    double Value
);

/// <summary>A span as it travels.</summary>
internal sealed record OtlpSpan(
    IReadOnlyDictionary<string, object> Resource,
    OtlpScope Scope,
    string Name,
    ulong Kind,
    string TraceId,
    string ParentId,
    IReadOnlyDictionary<string, object> Attributes,
    ulong Status
);

/// <summary>Which meter or source something is from.</summary>
internal sealed record OtlpScope(string Name, string Version, IReadOnlyDictionary<string, object> Attributes);

/// <summary>Reads the fields of OTLP's messages by their numbers.</summary>
internal static class OtlpMessages
{
    /// <summary>The measurements of a request to export metrics; histograms are passed over.</summary>
    public static IEnumerable<OtlpPoint> Points(ByteString request) =>
        from ofResource in Fields.Of(request).Messages(1)
        let resource = Attributes(ofResource.Message(1), 1)
        from ofScope in ofResource.Messages(2)
        let scope = Scope(ofScope.Message(1))
        from metric in ofScope.Messages(2)
        let sum = metric.Messages(7).SingleOrDefault()
        let data = sum ?? metric.Messages(5).SingleOrDefault()
        where data is not null
        from point in data.Messages(1)
        select new OtlpPoint(
            resource,
            scope,
            metric.Text(1),
            metric.Text(3),
            metric.Text(2),
            sum is not null,
            data.Number(3) != 0,
            Attributes(point, 7),
            point.Has(4) ? BitConverter.UInt64BitsToDouble(point.Number(4)) : (long)point.Number(6)
        );

    /// <summary>The spans of a request to export traces.</summary>
    public static IEnumerable<OtlpSpan> Spans(ByteString request) =>
        from ofResource in Fields.Of(request).Messages(1)
        let resource = Attributes(ofResource.Message(1), 1)
        from ofScope in ofResource.Messages(2)
        let scope = Scope(ofScope.Message(1))
        from span in ofScope.Messages(2)
        select new OtlpSpan(
            resource,
            scope,
            span.Text(5),
            span.Number(6),
            span.Hexadecimal(1),
            span.Hexadecimal(4),
            Attributes(span, 9),
            span.Messages(15).Select(s => s.Number(3)).SingleOrDefault()
        );

    private static OtlpScope Scope(Fields scope) => new(scope.Text(1), scope.Text(2), Attributes(scope, 3));

    private static Dictionary<string, object> Attributes(Fields message, int field) =>
        message.Messages(field).ToDictionary(pair => pair.Text(1), pair => Value(pair.Message(2)));

    private static object Value(Fields value) =>
        value.Has(1) ? value.Text(1)
        : value.Has(2) ? value.Number(2) != 0
        : value.Has(3) ? (long)value.Number(3)
        : value.Has(4) ? BitConverter.UInt64BitsToDouble(value.Number(4))
        : "";

    /// <summary>A message's fields by number.</summary>
    private sealed class Fields
    {
        private readonly List<(int Number, ulong Value, ByteString? Bytes)> _all = [];

        public static Fields Of(ByteString message)
        {
            var fields = new Fields();
            CodedInputStream input = message.CreateCodedInput();
            for (uint tag = input.ReadTag(); tag != 0; tag = input.ReadTag())
            {
                int number = WireFormat.GetTagFieldNumber(tag);
                fields._all.Add(
                    WireFormat.GetTagWireType(tag) switch
                    {
                        WireFormat.WireType.Varint => (number, input.ReadUInt64(), null),
                        WireFormat.WireType.Fixed64 => (number, input.ReadFixed64(), null),
                        WireFormat.WireType.Fixed32 => (number, input.ReadFixed32(), null),
                        WireFormat.WireType.LengthDelimited => (number, 0, input.ReadBytes()),
                        var other => throw new InvalidDataException($"Field {number} has the wire type {other}."),
                    }
                );
            }
            return fields;
        }

        public bool Has(int number) => _all.Any(f => f.Number == number);

        public IEnumerable<Fields> Messages(int number) =>
            _all.Where(f => f.Number == number).Select(f => Of(f.Bytes!));

        public Fields Message(int number) => Messages(number).Single();

        public string Text(int number) => Bytes(number).ToStringUtf8();

        public string Hexadecimal(int number) => Convert.ToHexStringLower(Bytes(number).Span);

        public ulong Number(int number) => _all.Where(f => f.Number == number).Select(f => f.Value).SingleOrDefault();

        private ByteString Bytes(int number) =>
            _all.Where(f => f.Number == number).Select(f => f.Bytes!).SingleOrDefault(ByteString.Empty);
    }
}
