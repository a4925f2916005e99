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
        Option<string?> server = CommonOptions.Server();
        var command = new ExampleCommand(
            "confirm-catalog",
            "After a repair that has lost changes of the catalog, when users, rights, tokens and topics were looked "
                + "through and put right: let everybody log in again. As admin, who alone may until then.",
            "lightq server confirm-catalog --server lightq://admin@127.0.0.1"
        )
        {
            server,
        };
        command.SetAction(
            async (parsed, cancellationToken) =>
            {
                await using var client = new LightQClient(CommonOptions.ClientOptions(parsed.GetValue(server)));
                bool confirmed = await client.Operations.ConfirmCatalogAsync(cancellationToken);
                Console.Out.WriteLine(
                    confirmed ? "Confirmed: everybody may log in again." : "There is nothing to confirm."
                );
            }
        );
        return command;
    }
}
