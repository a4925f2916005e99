namespace LightQ.Broker;

/// <summary>The id of a data directory, in the file <c>broker-id</c>.</summary>
internal static class BrokerIdentity
{
    private const string FileName = "broker-id";

    public static Guid ReadOrCreate(string directory)
    {
        string path = Path.Combine(directory, FileName);
        if (File.Exists(path) && Guid.TryParse(File.ReadAllText(path), out Guid id))
            return id;
        id = Guid.NewGuid();
        string temporary = path + ".new";
        File.WriteAllText(temporary, id.ToString("N"));
        File.Move(temporary, path, overwrite: true);
        return id;
    }
}
