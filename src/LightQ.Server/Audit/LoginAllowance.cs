using System.Globalization;
using LightQ.Server.Security;

namespace LightQ.Server.Audit;

/// <summary>How many logins of a kind are logged one by one; the others are counted. Guarded by its owner.</summary>
/// <param name="burst">So many at once.</param>
/// <param name="perSecond">And so many more each second.</param>
/// <param name="time">The clock.</param>
internal sealed class LoginAllowance(int burst, int perSecond, TimeProvider time)
{
    /// <summary>Addresses that are counted apart.</summary>
    private const int MostAddresses = 1000;

    /// <summary>How many of these are logged.</summary>
    private const int MostTold = 5;

    private readonly Dictionary<string, long> _byAddress = [];
    private double _left = burst;
    private long _lastTaken = time.GetTimestamp();

    /// <summary>Logins that were only counted since the last summary.</summary>
    public long Counted { get; private set; }

    /// <summary>Whether a login is to be logged; if not, it has been counted.</summary>
    public bool TryTake(Origin origin)
    {
        long now = time.GetTimestamp();
        _left = Math.Min(burst, _left + (time.GetElapsedTime(_lastTaken, now).TotalSeconds * perSecond));
        _lastTaken = now;
        if (_left >= 1)
        {
            _left--;
            return true;
        }
        Counted++;
        string address = origin.Remote?.Address.ToString() ?? origin.Address;
        if (_byAddress.Count < MostAddresses || _byAddress.ContainsKey(address))
            _byAddress[address] = _byAddress.GetValueOrDefault(address) + 1;
        return false;
    }

    /// <summary>What was counted, in words, and begins anew.</summary>
    public string Summarise()
    {
        IEnumerable<string> most = _byAddress
            .OrderByDescending(a => a.Value)
            .Take(MostTold)
            .Select(a => string.Create(CultureInfo.InvariantCulture, $"{a.Key} {a.Value}"));
        string many = _byAddress.Count >= MostAddresses ? " or more" : "";
        string text = string.Create(
            CultureInfo.InvariantCulture,
            $"{Counted} from {_byAddress.Count}{many} addresses, most from {string.Join(", ", most)}"
        );
        _byAddress.Clear();
        Counted = 0;
        return text;
    }
}
