namespace LightQ.Tests.Client;

/// <summary>Something to publish.</summary>
internal sealed record ShopOrder(string Id, int Cents);
