using Xunit;

namespace LightQ.DashboardTests;

/// <summary>The tests share a browser, one after the other: a browser takes all of a small machine.</summary>
[CollectionDefinition(Name)]
public sealed class BrowserCollection : ICollectionFixture<Browser>
{
    public const string Name = "browser";
}
