using System.CommandLine;
using LightQ.Cli.Options;
using LightQ.Client.Administration;
using LightQ.Protocol;

namespace LightQ.Cli.Messages;

/// <summary><c>lightq republish</c>: publishes a stored message again, edited or as it is.</summary>
internal static class RepublishCommand
{
    public static Command Create()
    {
        Argument<TopicAddress> topic = CommonOptions.Address();
        Option<long?> offset = ValueOptions.Number("--offset", 0L);
        offset.Description = "The message's offset; lightq peek shows it.";
        offset.Required = true;
        var edit = new EditOptions();
        var command = new BrokerCommand(
            "republish",
            "Publish a stored message again, edited or as it is: as a new message with a new offset, which all groups "
                + "get. The stored one stays. Without a partition in TOPIC it is that of partition 0.",
            "lightq republish orders --offset 17",
            "lightq republish orders/3 --offset 17 --to orders-test",
            "lightq republish orders --offset 17 --body @fixed.json --header fixed-by=alice"
        )
        {
            topic,
            offset,
        };
        edit.AddTo(command);
        command.Run(async call =>
        {
            TopicAddress address = call.Required(topic);
            RepublishResult result = await call.Client.Messages.RepublishAsync(
                address.Topic,
                address.Partition ?? 0,
                call.Get(offset)!.Value,
                edit.Read(call),
                edit.Target(call),
                call.Cancellation
            );
            call.Answer(
                result,
                MessagesJson.Default.RepublishResult,
                result.IsDuplicate
                    ? $"A message with this id is stored already, in {result.Topic}/{result.Partition}."
                    : $"Published as {result.Topic}/{result.Partition}, offset {result.Offset}."
            );
        });
        return command;
    }
}
