using LightQ.Client;

namespace LightQ.TestShop;

internal sealed class Billing(Orders orders) : IMessageHandler
{
    public Task HandleAsync(ProcessMessageEventArgs args)
    {
        orders.Billed.Enqueue(args.Message.GetText());
        return Task.CompletedTask;
    }
}
