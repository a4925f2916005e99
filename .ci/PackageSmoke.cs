// A program as a user of the packages writes one: it references LightQ.Client and nothing else. It publishes to and
// consumes from a broker of another process, and looks into the packages.
// Usage: app CONNECTION-STRING PACKAGE-FOLDER
using System.IO.Compression;
using System.Xml.Linq;
using LightQ.Client;

await PublishAndConsumeAsync(args[0], 10_000);
foreach (string path in Directory.GetFiles(args[1], "*.nupkg").Order(StringComparer.Ordinal))
    Check(path);
return 0;

static async Task PublishAndConsumeAsync(string connectionString, int messages)
{
    using var patience = new CancellationTokenSource(TimeSpan.FromSeconds(60));
    await using var client = new LightQClient(connectionString);
    await client.Topics.CreateAsync(new TopicSpec("smoke") { Kind = TopicKind.Durable }, patience.Token);
    await using Producer producer = await client.CreateProducerAsync("smoke", cancellationToken: patience.Token);
    for (int i = 0; i < messages; i++)
    {
        while (!producer.TryPublish(BitConverter.GetBytes(i)))
            await producer.WaitForRoomAsync(patience.Token);
    }
    await producer.FlushAsync(patience.Token);

    int next = 0;
    await foreach (
        Message message in client
            .ConsumeAsync("smoke", new() { Start = StartPosition.Earliest })
            .WithCancellation(patience.Token)
    )
    {
        int got = BitConverter.ToInt32(message.BodySpan);
        Require(message.Offset == next && got == next, $"message {next} came as {got} at offset {message.Offset}");
        if (++next == messages)
            break;
    }
    Console.WriteLine($"{next} messages published and consumed");
}

static void Check(string path)
{
    const string Tool = "lightq";
    string name = Path.GetFileName(path);
    using ZipArchive package = ZipFile.OpenRead(path);
    ZipArchiveEntry specification = package.Entries.Single(e =>
        e.FullName == e.Name && e.Name.EndsWith(".nuspec", StringComparison.Ordinal)
    );
    using Stream stream = specification.Open();
    XElement metadata = XDocument.Load(stream).Root!.Elements().Single(e => e.Name.LocalName == "metadata");
    XElement? Field(string field) => metadata.Elements().SingleOrDefault(e => e.Name.LocalName == field);

    XElement? license = Field("license");
    Require(
        license?.Attribute("type")?.Value == "expression" && license.Value == "Apache-2.0",
        $"{name} has no licence expression"
    );
    Require(
        Field("readme")?.Value == "README.md" && package.GetEntry("README.md") is { Length: > 500 },
        $"{name} has no README"
    );
    Require(
        Field("description")?.Value is { Length: > 20 } text && text != "Package Description",
        $"{name} has no description"
    );
    Require(
        Field("icon")?.Value == "icon.png" && package.GetEntry("icon.png") is { Length: > 500 },
        $"{name} has no icon"
    );
    foreach (string field in (string[])["tags", "copyright", "releaseNotes"])
        Require(Field(field)?.Value is { Length: > 0 }, $"{name} has no {field}");
    // The address joins it when the clone has a remote; the commit is there always.
    Require(
        Field("repository")?.Attribute("commit")?.Value.Length == 40,
        $"{name} does not say which commit it was built from"
    );

    string id = Field("id")!.Value;
    if (id == Tool)
    {
        // It names a package for each platform.
        Require(package.GetEntry("tools/any/any/DotnetToolSettings.xml") is not null, $"{name} has no settings");
    }
    else
    {
        bool isTool = id.StartsWith(Tool + ".", StringComparison.Ordinal);
        Require(isTool || File.Exists(Path.ChangeExtension(path, ".snupkg")), $"{name} has no symbols");
        string platform = isTool ? id[(Tool.Length + 1)..] : "";
        string assembly = isTool ? $"tools/net10.0/{platform}/lightq.dll" : $"lib/net10.0/{id}.dll";
        bool isNative =
            isTool
            && (
                package.GetEntry($"tools/any/{platform}/lightq") ?? package.GetEntry($"tools/any/{platform}/lightq.exe")
            )
                is not null;
        Require(isNative || package.GetEntry(assembly) is not null, $"{name} has no {assembly}");
        Require(
            isTool || package.GetEntry(Path.ChangeExtension(assembly, ".xml")) is not null,
            $"{name} has no documentation of its members"
        );
        Require(
            !isTool
                || !package.Entries.Any(e =>
                    e.FullName.StartsWith("tools/", StringComparison.Ordinal)
                    && Path.GetExtension(e.Name) is ".xml" or ".pdb"
                    && e.Name != "DotnetToolSettings.xml"
                ),
            $"{name} has documentation or symbols, which users of a tool look into neither"
        );
        if (!isTool)
            CheckLibrary(name, id, package, metadata);
    }
    Console.WriteLine($"{name}: {package.Entries.Count} files");
}

static void CheckLibrary(string name, string id, ZipArchive package, XElement metadata)
{
    // What two packages share is a package, never a copy.
    string[] assemblies =
    [
        .. package
            .Entries.Where(e => e.FullName.EndsWith(".dll", StringComparison.Ordinal))
            .Select(e => Path.GetFileNameWithoutExtension(e.Name))
            .Order(StringComparer.Ordinal),
    ];
    // With the engine, which is no package.
    string[] own = id == "LightQ.Server" ? ["LightQ.Broker", "LightQ.Scheduling", id, "LightQ.Storage"] : [id];
    Require(
        assemblies.SequenceEqual(own),
        $"{name} has the assemblies {string.Join(", ", assemblies)}; wanted: {string.Join(", ", own)}"
    );
    foreach (string assembly in own)
        Require(
            package.GetEntry($"lib/net10.0/{assembly}.xml") is not null,
            $"{name} has no documentation of {assembly}"
        );
    string[] ours =
    [
        .. metadata
            .Descendants()
            .Where(e => e.Name.LocalName == "dependency")
            .Select(e => e.Attribute("id")!.Value)
            .Where(d => d.StartsWith("LightQ.", StringComparison.Ordinal))
            .Order(StringComparer.Ordinal),
    ];
    string[] allowed = id switch
    {
        "LightQ.Client" => ["LightQ.Protocol"],
        "LightQ.Server" => ["LightQ.Disruptor", "LightQ.Protocol"],
        "LightQ.OpenTelemetry" => ["LightQ.Client"],
        "LightQ.Testing" => ["LightQ.Client", "LightQ.Server"],
        _ => [],
    };
    Require(
        ours.SequenceEqual(allowed),
        $"{name} depends on {string.Join(", ", ours)}; wanted: {string.Join(", ", allowed)}"
    );
}

static void Require(bool condition, string otherwise)
{
    if (!condition)
        throw new InvalidOperationException(otherwise);
}
