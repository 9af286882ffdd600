import { readFileSync } from 'node:fs';
import { isSuretyError } from '@surety/core/errors';
import { helpOf, overview } from './arguments/help.ts';
import { findCommand, parseCommand, type Typed } from './arguments/parse-command.ts';
import type { Command } from './command.ts';
import { COMMANDS } from './commands/all.ts';
import { EXIT, UsageError } from './exit-codes.ts';
import { StoreError } from './stores/open-store.ts';
import { type Output, outputOn } from './terminal/output.ts';

/** Does what was typed. Resolves with the exit code; never throws. */
export async function run(argv: readonly string[]): Promise<number> {
  const output = outputOn(process.stdout, process.stderr, [process.env['SURETY_URL'], ...urlsIn(argv)]);
  const typed = findCommand(argv, COMMANDS);
  try {
    if (typed.command === null) return withoutCommand(typed, output);
    if (typed.help) output.print(...helpOf(typed.command));
    return typed.help ? EXIT.ok : await obey(typed.command, typed.rest, output);
  } catch (error) {
    output.error(sentenceOf(error, typed.command));
    return EXIT.unable;
  }
}

async function obey(command: Command, rest: readonly string[], output: Output): Promise<number> {
  const { words, values } = parseCommand(command, rest);
  return await command.run({ words, values, output });
}

function withoutCommand({ unknown, help, version, rest }: Typed, output: Output): number {
  if (unknown === null && version) {
    output.print(ownVersion());
    return EXIT.ok;
  }
  if (unknown === null && (help || rest.length === 0)) {
    output.print(...overview(COMMANDS));
    return EXIT.ok;
  }
  if (unknown === null) throw new UsageError('A command is needed. Try: surety --help');
  const family = COMMANDS.filter(({ name }) => name.startsWith(`${unknown} `));
  if (family.length > 0 && help) {
    output.print(...overview(family));
    return EXIT.ok;
  }
  const names = family.map(({ name }) => name).join(', ');
  throw new UsageError(
    family.length > 0 ? `Say which: ${names}.` : 'There is no such command. Try: surety --help',
  );
}

/** What happened, and what to do, in one line. */
function sentenceOf(error: unknown, command: Command | null): string {
  if (error instanceof StoreError) {
    const where = error.byDefault ? `${error.shown} (the default; see --url and SURETY_URL)` : error.shown;
    return `${where}: ${messageOf(error.cause)}`;
  }
  if (!(error instanceof UsageError)) return messageOf(error);
  return command === null || error.cause === undefined
    ? error.message
    : `${error.message} Try: surety ${command.name} --help`;
}

function messageOf(error: unknown): string {
  if (!isSuretyError(error)) return error instanceof Error ? error.message : String(error);
  const { code, message, remedy } = error;
  if (code !== 'SCHEMA_MISSING' && code !== 'SCHEMA_TOO_OLD') return message;
  return `${message.slice(0, message.length - remedy.length).trim()} Run: surety migrate`;
}

/** Whatever looks like a URL in the arguments, also where it stands in a wrong place. */
function urlsIn(argv: readonly string[]): readonly string[] {
  return argv.map((word) => word.replace(/^--?\w+=/, '')).filter((word) => word.includes('://'));
}

function ownVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return (manifest as { readonly version: string }).version;
}
