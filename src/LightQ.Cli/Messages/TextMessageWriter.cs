using System.Globalization;
using System.Text;
using LightQ.Client;

namespace LightQ.Cli.Messages;

/// <summary>Writes bodies as lines of text that are safe on a terminal.</summary>
internal sealed class TextMessageWriter(OutputBuffer output) : MessageWriter(output)
{
    private readonly StringBuilder _text = new();

    protected override void Write(in RecordView record, MessageBatch batch)
    {
        if (!record.Body.ContainsAnyExceptInRange((byte)' ', (byte)'~'))
        {
            Output.Write(record.Body);
        }
        else
        {
            _text.Clear();
            foreach (char c in Encoding.UTF8.GetString(record.Body))
                Append(c);
            Output.Write(Encoding.UTF8.GetBytes(_text.ToString()));
        }
        Output.WriteByte(LineFeed);
    }

    private void Append(char c)
    {
        if (char.IsControl(c) && c != '\t')
            _text.Append(CultureInfo.InvariantCulture, $"\\u{(int)c:x4}");
        else
            _text.Append(c);
    }
}
