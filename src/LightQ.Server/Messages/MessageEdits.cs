using LightQ.Broker;
using LightQ.Protocol.Control;

namespace LightQ.Server.Messages;

/// <summary>Makes of a stored message the one that is published instead.</summary>
internal static class MessageEdits
{
    /// <summary>Checks an edit.</summary>
    /// <exception cref="BrokerException">It contradicts itself.</exception>
    public static void Check(MessageEdit? edit)
    {
        if (edit is { HasKey: true, RemoveKey: true })
            throw Refuse("edit has a key and remove_key; allowed: one of them");
        for (int i = 0; i < edit?.Headers.Count; i++)
        {
            if (edit.Headers[i].Name.Length == 0 && edit.Headers[i].Id == 0)
                throw Refuse($"edit.headers[{i}] has neither name nor id; allowed: one of them");
        }
    }

    /// <summary>Makes the new message.</summary>
    /// <param name="stored">Key, headers, body and whether it is a tombstone, as stored.</param>
    /// <param name="edit">What is to be different; it was checked.</param>
    public static PublishedMessage Apply(PublishedMessage stored, MessageEdit? edit)
    {
        var message = new PublishedMessage { Body = stored.Body, Tombstone = stored.Tombstone };
        if (stored.HasKey)
            message.Key = stored.Key;
        message.Headers.AddRange(stored.Headers.Where(header => !IsReplaced(header, edit)).Select(AsPublished));
        if (edit is null)
            return message;
        message.Headers.AddRange(edit.Headers);
        if (edit.HasKey)
            message.Key = edit.Key;
        if (edit.RemoveKey)
            message.ClearKey();
        if (edit.HasBody)
            (message.Body, message.Tombstone) = (edit.Body, false);
        (message.Delay, message.TimeToLive, message.MessageId) = (edit.Delay, edit.TimeToLive, edit.MessageId);
        return message;
    }

    private static bool IsReplaced(MessageHeader header, MessageEdit? edit) =>
        edit is not null
        && (
            edit.RemoveAllHeaders
            || edit.RemoveHeaders.Contains(header.Name)
            || edit.Headers.Any(h => h.Name.Length != 0 ? h.Name == header.Name : h.Id == header.Id)
        );

    /// <summary>A stored header is published as it was: by its number, where that stands for the name.</summary>
    private static MessageHeader AsPublished(MessageHeader header) =>
        header.Id == 0 ? header : new MessageHeader { Id = header.Id, Value = header.Value };

    private static BrokerException Refuse(string problem) => new(ErrorCode.InvalidArgument, $"{problem}.");
}
