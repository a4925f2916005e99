using System.Text.Json.Serialization;

namespace LightQ.Tests.Client;

/// <summary>The contracts of what the tests publish.</summary>
[JsonSerializable(typeof(ShopOrder))]
internal sealed partial class ShopJson : JsonSerializerContext;
