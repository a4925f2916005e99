using System.Text.Json;
using System.Text.Json.Serialization;

namespace LightQ.Tests.Client;

/// <summary>The contracts of what the tests publish, as the client has them where it is given none.</summary>
[JsonSourceGenerationOptions(
    JsonSerializerDefaults.Web,
    RespectNullableAnnotations = true,
    RespectRequiredConstructorParameters = true
)]
[JsonSerializable(typeof(ShopOrder))]
internal sealed partial class WebJson : JsonSerializerContext;
