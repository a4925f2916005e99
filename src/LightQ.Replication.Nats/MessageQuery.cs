using System.Globalization;
using LightQ.Broker.Replication;
using Microsoft.Extensions.Primitives;
using NATS.Client.Core;

namespace LightQ.Replication.Nats;

/// <summary>Questions for a single message of a stream.</summary>
internal static class MessageQuery
{
    private const int NotFound = 404,
        NoMessageFound = 10037;

    private static readonly NatsJsonContextSerializer<MessageQuestion> Questions = new(JetStreamMessages.Default);

    private static readonly NatsJsonContextSerializer<MessageAnswer> Answers = new(JetStreamMessages.Default);

    /// <summary>
    /// Asks whichever replica takes it, and the leader if none answers: the one that took it may stand still.
    /// </summary>
    public static async ValueTask<StreamEntry?> AskAnyAsync(
        JetStreamEngine engine,
        StreamNames names,
        MessageQuestion question,
        CancellationToken cancellationToken
    )
    {
        using var waiting = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        waiting.CancelAfter(engine.Options.RequestTimeout);
        try
        {
            NatsMsg<byte[]> answer = await engine
                .Requests.RequestAsync(
                    $"{engine.Api.Opts.Prefix}.DIRECT.GET.{names.Stream}",
                    question,
                    headers: null,
                    Questions,
                    NatsRawSerializer<byte[]>.Default,
                    replyOpts: OptionsOf(engine),
                    cancellationToken: waiting.Token
                )
                .ConfigureAwait(false);
            answer.EnsureSuccess();
            if (answer.Headers is not { } headers)
                throw new NatsException("an answer without headers");
            if (headers.Code == NotFound)
                return null;
            if (headers.Code != 0)
                throw new NatsException($"{headers.MessageText} ({headers.Code})");
            // Of several values the last: those of the entry itself, which its writer chose, come first.
            return new StreamEntry(
                ulong.Parse(LastOf(headers, "Nats-Sequence"), CultureInfo.InvariantCulture),
                names.Kind(LastOf(headers, "Nats-Subject")),
                answer.Data ?? []
            );
        }
        catch (Exception e) when (EngineFailure.IsOfEngine(e) && !cancellationToken.IsCancellationRequested)
        {
            return await AskLeaderAsync(engine, names, question, cancellationToken).ConfigureAwait(false);
        }
    }

    /// <summary>Asks the stream's leader. Its answer takes a third more bytes than the entry.</summary>
    public static async ValueTask<StreamEntry?> AskLeaderAsync(
        JetStreamEngine engine,
        StreamNames names,
        MessageQuestion question,
        CancellationToken cancellationToken
    )
    {
        string asked = $"Get from stream {names.Stream}";
        MessageAnswer? answer = await EngineFailure
            .Guard(
                asked,
                engine.Options.RequestTimeout,
                async waiting =>
                {
                    NatsMsg<MessageAnswer> reply = await engine
                        .Requests.RequestAsync(
                            $"{engine.Api.Opts.Prefix}.STREAM.MSG.GET.{names.Stream}",
                            question,
                            headers: null,
                            Questions,
                            Answers,
                            replyOpts: OptionsOf(engine),
                            cancellationToken: waiting
                        )
                        .ConfigureAwait(false);
                    reply.EnsureSuccess();
                    return reply.Data;
                },
                cancellationToken
            )
            .ConfigureAwait(false);
        return answer switch
        {
            { Error.ErrorCode: NoMessageFound } => null,
            { Error: { } error } => throw new ReplicationException($"{asked}: {error}"),
            { Message: { } found } => new StreamEntry(found.Sequence, names.Kind(found.Subject), found.Data ?? []),
            _ => throw new ReplicationException($"{asked}: an empty answer"),
        };
    }

    private static NatsSubOpts OptionsOf(JetStreamEngine engine) =>
        new() { Timeout = engine.Options.RequestTimeout, ThrowIfNoResponders = true };

    private static string LastOf(NatsHeaders headers, string name) =>
        headers.TryGetValue(name, out StringValues values) && values.Count != 0
            ? values[^1]!
            : throw new NatsException($"an answer without {name}");
}
