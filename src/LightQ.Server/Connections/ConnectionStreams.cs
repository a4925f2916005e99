using System.Diagnostics;
using LightQ.Broker.Producers;
using LightQ.Broker.Streams;
using LightQ.Broker.Subscriptions;

namespace LightQ.Server.Connections;

/// <summary>The open streams of a connection. Thread-safe.</summary>
internal sealed class ConnectionStreams
{
    /// <summary>Those of all connections that have not been welcomed: a stranger's costs no memory.</summary>
    public static readonly ConnectionStreams None = new();

    /// <summary>
    /// Of so many that have ended the numbers are known; of a client with more, any frame may be a late one.
    /// </summary>
    private const int MostEnded = 1024;

    private readonly Dictionary<uint, OutputStream> _byId = [];
    private HashSet<uint>? _ended;

    /// <summary>How many are open.</summary>
    public int Count
    {
        get
        {
            lock (_byId)
                return _byId.Count;
        }
    }

    /// <summary>Those that are open now.</summary>
    public OutputStream[] All()
    {
        lock (_byId)
            return [.. _byId.Values];
    }

    /// <summary>One of them.</summary>
    /// <returns>Null when there is none of this number.</returns>
    public OutputStream? Find(uint id)
    {
        lock (_byId)
            return _byId.GetValueOrDefault(id);
    }

    /// <summary>One is open now.</summary>
    public void Add(OutputStream stream)
    {
        Debug.Assert(this != None, "A stranger has no streams.");
        lock (_byId)
            _byId.Add(stream.Id, stream);
    }

    /// <summary>Forgets one that has ended.</summary>
    public void Remove(OutputStream stream)
    {
        lock (_byId)
        {
            _byId.Remove(stream.Id);
            NoteEnd(stream.Id);
        }
    }

    /// <summary>
    /// A stream was requested and rejected, or the client got the answer that there is none of this number.
    /// </summary>
    public void Refuse(uint id)
    {
        lock (_byId)
            NoteEnd(id);
    }

    /// <summary>Whether a frame for this number may be late: the stream is open, has ended, or was rejected.</summary>
    public bool MayBeLate(uint id)
    {
        lock (_byId)
            return _byId.ContainsKey(id) || _ended is { Count: >= MostEnded } || _ended?.Contains(id) == true;
    }

    /// <summary>Takes every stream off its topic; no turn comes any more.</summary>
    public void Release()
    {
        OutputStream[] streams;
        lock (_byId)
        {
            streams = [.. _byId.Values];
            _byId.Clear();
        }
        foreach (OutputStream stream in streams)
            stream.Release();
    }

    private void NoteEnd(uint id)
    {
        _ended ??= [];
        if (_ended.Count < MostEnded)
            _ended.Add(id);
    }

    /// <summary>Open streams of each kind.</summary>
    public (int Producers, int Subscriptions) CountKinds()
    {
        OutputStream[] all = All();
        int producers = all.Count(s => s is ProducerStream);
        return (producers, all.Length - producers);
    }

    /// <summary>What is under way: producers that wait for acks, and messages that members of groups hold.</summary>
    public (int BusyProducers, long Held) CountUnderWay()
    {
        OutputStream[] all = All();
        return (
            all.Count(s => s is ProducerStream { IsBusy: true }),
            all.OfType<Subscription>().Sum(s => (long)s.Held)
        );
    }

    /// <summary>Whether the broker has ended a stream and has not yet reported that to the peer.</summary>
    public bool HasUnreportedEnd() => Array.Exists(All(), s => s.CloseRequested is { Code: not ErrorCode.None });
}
