using System.Text;

namespace LightQ.Broker;

/// <summary>The id of a data directory, in the file <c>broker-id</c>.</summary>
internal static class BrokerIdentity
{
    /// <summary>The file's name.</summary>
    public const string FileName = "broker-id";

    public static Guid ReadOrCreate(string directory)
    {
        string path = Path.Combine(directory, FileName);
        if (File.Exists(path) && Guid.TryParse(File.ReadAllText(path), out Guid id))
            return id;
        id = Guid.NewGuid();
        string temporary = path + ".new";
        File.WriteAllBytes(temporary, Encode(id));
        File.Move(temporary, path, overwrite: true);
        return id;
    }

    /// <summary>The file's content.</summary>
    public static byte[] Encode(Guid id) => Encoding.ASCII.GetBytes(id.ToString("N"));
}
