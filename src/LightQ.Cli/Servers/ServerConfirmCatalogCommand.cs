using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Client;

namespace LightQ.Cli.Servers;

/// <summary>
/// <c>lightq server confirm-catalog</c>: lets all users log in again after a repair that has lost changes of the
/// catalog.
/// </summary>
internal static class ServerConfirmCatalogCommand
{
    public static Command Create()
    {
        var broker = new BrokerChoice();
        var command = new ExampleCommand(
            "confirm-catalog",
            "Let all users log in again after a repair that has lost changes of the catalog. Check users, rights, "
                + "tokens and topics first, and correct them. Only admin may log in until then, and do this.",
            "lightq server confirm-catalog --server lightq://admin@127.0.0.1"
        );
        broker.AddTo(command);
        command.SetAction(
            async (parsed, cancellationToken) =>
            {
                await using var client = new LightQClient(broker.Read(parsed));
                bool confirmed = await client.Operations.ConfirmCatalogAsync(cancellationToken);
                Console.Out.WriteLine(
                    confirmed ? "Confirmed: all users may log in again." : "There is nothing to confirm."
                );
            }
        );
        return command;
    }
}
