using Google.Protobuf;
using Google.Protobuf.Reflection;

namespace LightQ.Grpc.AspNetCore.Reflection;

/// <summary>What a set of services is made of: every file they need, and which file declares which name. Immutable.</summary>
internal sealed class DescriptorIndex
{
    private readonly Dictionary<string, FileDescriptor> _files = [];
    private readonly Dictionary<string, FileDescriptor> _symbols = [];
    private readonly Dictionary<string, SortedDictionary<int, FileDescriptor>> _extensions = [];

    public DescriptorIndex(IEnumerable<ServiceDescriptor> services)
    {
        ServiceDescriptor[] all = [.. services];
        ServiceNames = [.. all.Select(s => s.FullName).Order(StringComparer.Ordinal)];
        foreach (ServiceDescriptor service in all)
            Add(service.File);
    }

    public IReadOnlyList<string> ServiceNames { get; }

    public FileDescriptor? FindFile(string name) => _files.GetValueOrDefault(name);

    /// <summary>The file that declares a message, enum, enum value, field, service or method.</summary>
    public FileDescriptor? FindSymbol(string fullName) => _symbols.GetValueOrDefault(fullName);

    public FileDescriptor? FindExtension(string message, int number) => _extensions.GetValueOrDefault(message)?.GetValueOrDefault(number);

    /// <summary>The numbers of a message's extensions, or null when the message is not known.</summary>
    public IEnumerable<int>? FindExtensionNumbers(string message) =>
        _extensions.TryGetValue(message, out SortedDictionary<int, FileDescriptor>? byNumber) ? byNumber.Keys : _symbols.ContainsKey(message) ? [] : null;

    /// <summary>A file and everything it imports, each once, the file itself first.</summary>
    public static IEnumerable<ByteString> Closure(FileDescriptor file)
    {
        HashSet<string> seen = [file.Name];
        Queue<FileDescriptor> waiting = new([file]);
        while (waiting.TryDequeue(out FileDescriptor? next))
        {
            yield return next.SerializedData;
            foreach (FileDescriptor dependency in next.Dependencies)
                if (seen.Add(dependency.Name))
                    waiting.Enqueue(dependency);
        }
    }

    private void Add(FileDescriptor file)
    {
        if (!_files.TryAdd(file.Name, file)) return;
        foreach (FileDescriptor dependency in file.Dependencies)
            Add(dependency);
        foreach (MessageDescriptor message in file.MessageTypes)
            Add(message);
        foreach (EnumDescriptor declared in file.EnumTypes)
            Add(declared);
        foreach (FieldDescriptor extension in file.Extensions.UnorderedExtensions)
            AddExtension(extension);
        foreach (ServiceDescriptor service in file.Services)
        {
            _symbols[service.FullName] = file;
            foreach (MethodDescriptor method in service.Methods)
                _symbols[method.FullName] = file;
        }
    }

    private void Add(MessageDescriptor message)
    {
        _symbols[message.FullName] = message.File;
        foreach (FieldDescriptor field in message.Fields.InDeclarationOrder())
            _symbols[field.FullName] = message.File;
        foreach (OneofDescriptor oneof in message.Oneofs)
            _symbols[oneof.FullName] = message.File;
        foreach (MessageDescriptor nested in message.NestedTypes)
            Add(nested);
        foreach (EnumDescriptor nested in message.EnumTypes)
            Add(nested);
        foreach (FieldDescriptor extension in message.Extensions.UnorderedExtensions)
            AddExtension(extension);
    }

    private void Add(EnumDescriptor declared)
    {
        _symbols[declared.FullName] = declared.File;
        foreach (EnumValueDescriptor value in declared.Values)
            _symbols[value.FullName] = declared.File;
    }

    private void AddExtension(FieldDescriptor extension)
    {
        _symbols[extension.FullName] = extension.File;
        if (!_extensions.TryGetValue(extension.ExtendeeType.FullName, out SortedDictionary<int, FileDescriptor>? byNumber))
            _extensions[extension.ExtendeeType.FullName] = byNumber = [];
        byNumber[extension.FieldNumber] = extension.File;
    }
}
