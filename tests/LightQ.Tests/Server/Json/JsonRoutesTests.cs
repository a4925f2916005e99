using Google.Protobuf.Reflection;
using LightQ.Server.Json;
using LightQ.Server.Security;
using Xunit;

namespace LightQ.Tests.Server.Json;

public sealed class JsonRoutesTests
{
    [Fact]
    public void Every_rpc_has_one_route_or_is_said_to_have_none()
    {
        string[] methods =
        [
            .. RpcRules.All.Keys.Select(k => k[(k.LastIndexOf('/') + 1)..]).Order(StringComparer.Ordinal),
        ];
        Assert.Equal(
            methods,
            JsonRoutes.All.Select(r => r.Method.Name).Concat(JsonRoutes.LeftOut).Order(StringComparer.Ordinal)
        );
        Assert.Equal(JsonRoutes.All.Count, JsonRoutes.All.Select(r => (r.Verb, r.Pattern)).Distinct().Count());
    }

    [Fact]
    public void What_stands_in_a_path_is_a_text_of_the_request_and_parameters_are_values_and_lists_of_texts()
    {
        foreach (JsonRoute route in JsonRoutes.All)
        {
            Assert.All(route.PathFields, f => Assert.Equal(FieldType.String, f.FieldType));
            Assert.False(route.Method.IsClientStreaming);
            Assert.Equal($"/{route.Method.Service.FullName}/{route.Method.Name}", route.Path);
            if (!route.HasBody)
            {
                Assert.All(
                    route.Method.InputType.Fields.InDeclarationOrder(),
                    f => Assert.True(JsonRequest.IsParameter(f), f.FullName)
                );
            }
        }
    }
}
