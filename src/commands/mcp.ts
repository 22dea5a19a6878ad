import { usage } from '../lib/errors.ts';
import { checkAmount } from '../lib/money.ts';
import { serveProtocol } from '../mcp/serve.ts';
import { command } from '../spec/command.ts';
import { flag, text } from '../spec/options.ts';

const NO_FORM = 'mcp prints the protocol alone';

export const mcp = command({
  name: 'mcp',
  summary: 'Serve your files and transcripts to an AI assistant (MCP)',
  about:
    'A Model Context Protocol server on stdin and stdout, to be started by an assistant. It lists files, reads and ' +
    'searches transcripts, and estimates costs. It can order only with --allow-orders, and then asks you first.',
  details: [
    'Add it to an assistant:',
    [
      ['Claude Code', 'claude mcp add steno -- steno mcp'],
      [
        'VS Code',
        '.vscode/mcp.json: {"servers": {"steno": {"type": "stdio", "command": "steno", "args": ["mcp"]}}}',
      ],
      ['others', '{"mcpServers": {"steno": {"command": "steno", "args": ["mcp"]}}}'],
    ],
    'Most tools run the steno command of the same name, with the same profile and ledger, and may only read ' +
      '(STENO_ALLOW=read), which lets search and quote keep their index; estimate is steno order --dry-run. The JSON schemas of the results and the transcripts are ' +
      'resources: steno://schema/files, steno://transcript/12345.',
    'With --allow-orders, the tool order asks you through the assistant (elicitation) and shows what is ordered. A length ' +
      'that only the assistant claims counts as unknown, and so does the cost: you type the most that it may cost, up to ' +
      '--max-cost. If you do not agree, or the assistant cannot ask, nothing is ordered. Audio that was ordered ' +
      'before is not bought again (--or-existing).',
    'Results leave out what is null or empty, and the answers of the service unless the tool is called with answer: true.',
    'Titles, notes, transcripts and events were written by others, and are marked as untrusted. An assistant can still ' +
      'be misled by them: check what it asks you to approve.',
  ],
  options: {
    allowOrders: flag('--allow-orders', 'with --max-cost, add a tool that orders, after asking you', {
      needs: ['--max-cost'],
      excludes: ['--no-ledger'],
      effect: 'money',
    }),
    maxCost: text('--max-cost <amount>', 'with --allow-orders, the most that one order may cost', {
      needs: ['--allow-orders'],
    }),
  },
  examples: [
    ['steno mcp', 'read-only, for the configuration of an assistant'],
    ['steno mcp --sandbox', 'try it with the test service'],
    ['steno mcp --allow-orders --max-cost 20', 'let it order, up to 20 per order'],
  ],
  refuses: { '--json': NO_FORM, '--csv': NO_FORM, '--markdown': NO_FORM, '--quiet': NO_FORM },
  effect: 'read',
  exits: [],
  async run(context, { options: { maxCost } }) {
    if (context.stdin.isTTY)
      throw usage(
        'steno mcp is started by an assistant',
        'see: steno help mcp   (for example: claude mcp add steno -- steno mcp)',
      );
    const limit = maxCost === undefined ? undefined : checkAmount(maxCost, '--max-cost');
    await serveProtocol(context, limit);
  },
});
