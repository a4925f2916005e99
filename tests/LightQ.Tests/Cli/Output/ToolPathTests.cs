using LightQ.Cli.Output;
using Xunit;

namespace LightQ.Tests.Cli.Output;

public sealed class ToolPathTests : IDisposable
{
    private readonly string _directory = Directory.CreateTempSubdirectory("lightq-path-").FullName;

    public void Dispose() => Directory.Delete(_directory, recursive: true);

    [Fact]
    public void A_tool_on_the_path_is_called_by_its_name()
    {
        string tool = Make("bin", "lightq");

        Assert.Equal(
            "lightq",
            ToolPath.Find(tool, "unused", $"{_directory}{Path.PathSeparator}{Path.GetDirectoryName(tool)}")
        );
    }

    [Fact]
    public void One_that_dotnet_run_has_built_is_called_by_its_path_also_beside_another_on_the_path()
    {
        string built = Make("built here", "lightq"),
            installed = Make("bin", "lightq");

        Assert.Equal($"'{built}'", ToolPath.Find(built, "unused", Path.GetDirectoryName(installed)));
        Assert.Equal($"'{built}'", ToolPath.Find(built, "unused", null));
    }

    [Fact]
    public void One_that_dotnet_runs_is_called_by_its_file() =>
        Assert.Equal("dotnet /opt/lightq.dll", ToolPath.Find("/usr/bin/dotnet", "/opt/lightq.dll", "/usr/bin"));

    private string Make(string folder, string name)
    {
        string file = Path.Combine(Directory.CreateDirectory(Path.Combine(_directory, folder)).FullName, name);
        File.WriteAllText(file, "");
        return file;
    }
}
