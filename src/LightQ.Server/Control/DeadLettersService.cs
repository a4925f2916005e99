using Google.Protobuf.Collections;
using Grpc.Core;
using LightQ.Broker;
using LightQ.Broker.DeadLetters;
using LightQ.Protocol.Control;
using LightQ.Server.Messages;
using LightQ.Server.Security;
using DeadLetter = LightQ.Protocol.Control.DeadLetter;
using LetterOutcome = LightQ.Protocol.Control.LetterOutcome;
using Right = LightQ.Broker.Users.Right;

namespace LightQ.Server.Control;

/// <summary>Serves <c>lightq.control.v1.DeadLetters</c>.</summary>
/// <param name="broker">The engine.</param>
/// <param name="republisher">Publishes what letters hold.</param>
/// <param name="events">Is told of changes.</param>
internal sealed class DeadLettersService(LightQBroker broker, Republisher republisher, ISecurityEvents events)
    : Protocol.Control.DeadLetters.DeadLettersBase
{
    private const string Service = "/lightq.control.v1.DeadLetters/";

    private const int MostLetters = 1_000,
        MostNamed = 50;

    public override async Task<ListLettersResponse> ListLetters(ListLettersRequest request, ServerCallContext context)
    {
        BrowseRequests.CheckPage(request.MaxLetters, "max_letters", request.HasMaxBodyBytes ? request.MaxBodyBytes : 0);
        if (request.StartOffset < 0)
            throw Refuse($"start_offset is {request.StartOffset}; allowed: 0 or more");
        Broker.Topics.Topic topic = broker.GetTopic(request.Topic);
        if (request.HasPartition)
            topic.GetPartition(request.Partition);
        int most = BrowseRequests.CountOf(request.MaxLetters),
            bytes = 0;
        GroupLetters letters = broker.Groups.LettersOf(topic, request.Group);
        var page = new ListLettersResponse { DeadLetterTopic = DeadLetterOffice.TopicOf(topic) };
        using var mapping = new LetterMapping(request);
        (page.NextOffset, page.AtEnd) = await letters
            .ListAsync(request.StartOffset, Visit, context.CancellationToken)
            .ConfigureAwait(false);
        return page;

        bool Visit(in LetterView letter)
        {
            if (
                (letter.IsSettled && !request.IncludeSettled)
                || (request.HasPartition && letter.Origin.Partition != request.Partition)
            )
            {
                return true;
            }
            DeadLetter mapped = mapping.ToProto(letter);
            page.Letters.Add(mapped);
            bytes += mapped.CalculateSize();
            return page.Letters.Count < most && bytes < BrowseRequests.PageBytes;
        }
    }

    public override async Task<RedriveLettersResponse> RedriveLetters(
        RedriveLettersRequest request,
        ServerCallContext context
    ) =>
        new()
        {
            Results =
            {
                await ChangeAsync(
                        SecurityAction.LettersRedriven,
                        request.Topic,
                        request.Group,
                        request.Offsets,
                        context,
                        letters => letters.RedriveAsync(request.Offsets, context.CancellationToken)
                    )
                    .ConfigureAwait(false),
            },
        };

    public override async Task<DeleteLettersResponse> DeleteLetters(
        DeleteLettersRequest request,
        ServerCallContext context
    ) =>
        new()
        {
            Results =
            {
                await ChangeAsync(
                        SecurityAction.LettersDeleted,
                        request.Topic,
                        request.Group,
                        request.Offsets,
                        context,
                        letters => letters.DeleteAsync(request.Offsets, context.CancellationToken)
                    )
                    .ConfigureAwait(false),
            },
        };

    public override async Task<RepublishLetterResponse> RepublishLetter(
        RepublishLetterRequest request,
        ServerCallContext context
    )
    {
        string target = request.TargetTopic.Length != 0 ? request.TargetTopic : request.Topic;
        republisher.Demand(context, Right.Consume, request.Topic);
        republisher.Demand(context, Right.Publish, target);
        MessageEdits.Check(request.Edit);
        DeadLetter letter = await ReadAsync(request, context, 0).ConfigureAwait(false);
        if (request.Settle && letter.Settled)
            return new RepublishLetterResponse { Topic = target, Outcome = LetterOutcome.SettledBefore };
        PublishResponse published = await republisher
            .PublishAsync(
                target,
                request.HasTargetPartition ? request.TargetPartition : null,
                MessageEdits.Apply(await OpenAsync(request, letter, context).ConfigureAwait(false), request.Edit),
                context
            )
            .ConfigureAwait(false);
        MessagePosition position = published.Positions[0];
        await events
            .RaiseAsync(
                Event(
                    SecurityAction.LetterRepublished,
                    context,
                    request.Topic,
                    request.Group,
                    $"letter {request.Offset} as {target}/{position.Partition}/{position.Offset}"
                )
            )
            .ConfigureAwait(false);
        var response = new RepublishLetterResponse
        {
            Topic = target,
            Position = position,
            Durability = published.Durability,
        };
        if (request.Settle)
            await SettleAsync(request, response, context).ConfigureAwait(false);
        return response;
    }

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");

    private static SecurityEvent Event(
        SecurityAction action,
        ServerCallContext context,
        string topic,
        string group,
        string detail
    ) => new(action, CallPrincipal.Of(context).ToString(), Origin.Control(context), $"{topic}/{group}", detail);

    private static string TextOf(IReadOnlyCollection<long> offsets) =>
        $"letters {string.Join(", ", offsets.Take(MostNamed))}"
        + (offsets.Count > MostNamed ? $" and {offsets.Count - MostNamed} more" : "");

    private async Task<IEnumerable<LetterResult>> ChangeAsync(
        SecurityAction action,
        string topic,
        string group,
        RepeatedField<long> offsets,
        ServerCallContext context,
        Func<GroupLetters, Task<IReadOnlyDictionary<long, Broker.DeadLetters.LetterOutcome>>> change
    )
    {
        if (offsets.Count is 0 or > MostLetters)
            throw Refuse($"offsets has {offsets.Count} entries; allowed: 1 to {MostLetters}");
        if (offsets.Any(offset => offset < 0))
            throw Refuse($"offsets has {offsets.First(offset => offset < 0)}; allowed: 0 or more");
        GroupLetters letters = broker.Groups.LettersOf(broker.GetTopic(topic), group);
        IReadOnlyDictionary<long, Broker.DeadLetters.LetterOutcome> outcomes = offsets
            .Distinct()
            .ToDictionary(offset => offset, _ => Broker.DeadLetters.LetterOutcome.Done);
        await events
            .RaiseForAsync(
                () => Event(action, context, topic, group, TextOf([.. Done()])),
                async () =>
                {
                    outcomes = await change(letters).ConfigureAwait(false);
                    return Done().Any();
                }
            )
            .ConfigureAwait(false);
        return offsets.Select(offset => new LetterResult
        {
            Offset = offset,
            Outcome = (LetterOutcome)outcomes[offset],
        });

        IEnumerable<long> Done() =>
            outcomes.Where(o => o.Value == Broker.DeadLetters.LetterOutcome.Done).Select(o => o.Key).Order();
    }

    private async Task<DeadLetter> ReadAsync(RepublishLetterRequest request, ServerCallContext context, ulong from)
    {
        var wanted = new ListLettersRequest
        {
            Topic = request.Topic,
            Group = request.Group,
            StartOffset = request.Offset,
            MaxLetters = 1,
            IncludeSettled = true,
            MaxBodyBytes = BrowseRequests.MostBodyBytes,
            BodyOffset = from,
        };
        ListLettersResponse page = await republisher
            .CallAsync(Service + "ListLetters", wanted, context, ListLetters)
            .ConfigureAwait(false);
        return page.Letters.FirstOrDefault(letter => letter.Offset == request.Offset)
            ?? throw Refuse(
                $"offset is {request.Offset}, and there is no letter of the group '{request.Group}' about a message of "
                    + $"'{request.Topic}' at that offset of '{page.DeadLetterTopic}'; allowed: the offset of one"
            );
    }

    /// <summary>The message that a letter holds.</summary>
    private async Task<PublishedMessage> OpenAsync(
        RepublishLetterRequest request,
        DeadLetter letter,
        ServerCallContext context
    )
    {
        if (letter.Content != LetterContent.Whole)
        {
            throw new BrokerException(
                ErrorCode.NotSupported,
                letter.Content == LetterContent.Omitted
                    ? $"The letter {letter.Offset} has no message, as that did not fit the dead-letter topic; redrive "
                        + $"it, or republish the original, partition {letter.Partition} offset {letter.OriginalOffset}."
                    : $"The letter {letter.Offset} has a batch that cannot be read; redrive it, or delete it."
            );
        }
        var message = new PublishedMessage
        {
            Tombstone = letter.Tombstone,
            Headers = { letter.Headers },
            Body = await Republisher
                .JoinAsync(
                    letter.Body,
                    letter.BodySize,
                    async from => (await ReadAsync(request, context, from).ConfigureAwait(false)).Body
                )
                .ConfigureAwait(false),
        };
        if (letter.HasKey)
            message.Key = letter.Key;
        return message;
    }

    /// <summary>Settles a letter whose message is published: what fails now is told beside that.</summary>
    private async Task SettleAsync(
        RepublishLetterRequest request,
        RepublishLetterResponse response,
        ServerCallContext context
    )
    {
        var settled = new DeleteLettersRequest
        {
            Topic = request.Topic,
            Group = request.Group,
            Offsets = { request.Offset },
        };
        try
        {
            DeleteLettersResponse answer = await republisher
                .CallAsync(Service + "DeleteLetters", settled, context, DeleteLetters)
                .ConfigureAwait(false);
            response.Outcome = answer.Results[0].Outcome;
        }
        catch (RpcException e)
        {
            response.Problem = e.Status.Detail;
        }
        catch (Exception e) when (e is BrokerException or IOException)
        {
            response.Problem = e.Message;
        }
    }
}
