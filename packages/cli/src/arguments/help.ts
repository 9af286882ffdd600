import type { Command, Options } from '../command.ts';
import { SCHEMES } from '../stores/schemes.ts';

const EXIT_LINES: readonly string[] = [
  'Exit codes: 0 done; 1 the answer is no (not found, problem found, case failed, declined);',
  '            2 wrong arguments, or the store cannot be reached or refused.',
];

const STORE_LINES: readonly string[] = [
  'Stores: --url or the environment variable SURETY_URL. Where a password is in it, prefer the variable: arguments',
  'are visible to other users of a machine.',
  ...storeLines(),
];

/** What `surety --help` says. */
export function overview(commands: readonly Command[]): readonly string[] {
  const width = Math.max(...commands.map(({ name, takes }) => `${name} ${takes}`.length));
  return [
    'surety: look after the jobs of a Surety store.',
    '',
    'Usage: surety COMMAND [OPTIONS]      surety COMMAND --help says more about one',
    '',
    ...commands.map(({ name, takes, summary }) => `  ${`${name} ${takes}`.padEnd(width)}   ${summary}`),
    '',
    ...STORE_LINES,
    '',
    ...EXIT_LINES,
  ];
}

/** What `surety COMMAND --help` says. */
export function helpOf(command: Command): readonly string[] {
  const { name, takes, summary, details, options, examples } = command;
  const usage = ['surety', name, takes, Object.keys(options).length === 0 ? '' : '[OPTIONS]'];
  const width = Math.max(...examples.map(([line]) => line.length));
  return [
    `Usage: ${usage.filter((part) => part !== '').join(' ')}`,
    '',
    `${summary}.`,
    ...details,
    '',
    'Options:',
    ...optionLines(options),
    '',
    'Examples:',
    ...examples.map(([line, what]) => `  ${line.padEnd(width)}   ${what}`),
    '',
    ...EXIT_LINES,
  ];
}

function optionLines(options: Options): readonly string[] {
  const written = Object.entries(options).map(([name, { short, value, help }]) => {
    const dashes = short === undefined ? `    --${name}` : `-${short}, --${name}`;
    return [value === undefined ? dashes : `${dashes} ${value}`, help] as const;
  });
  written.push(['-h, --help', 'this text']);
  const width = Math.max(...written.map(([dashes]) => dashes.length));
  return written.map(([dashes, help]) => `  ${dashes.padEnd(width)}   ${help}`);
}

function storeLines(): readonly string[] {
  const forms = SCHEMES.map(({ form }) => form);
  const width = Math.max(...forms.map(([url]) => url.length));
  return forms.map(([url, remark]) => `  ${url.padEnd(width)}  ${remark}`);
}
