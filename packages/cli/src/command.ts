import type { Output } from './terminal/output.ts';

/** One option of a command. */
interface Option {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  /** What stands for the value in the help, `Q`. */
  readonly value?: string;
  readonly help: string;
}

/** Options by name, without their dashes. */
export type Options = Readonly<Record<string, Option>>;

/** What was typed, checked against the command's options. */
export interface Invocation {
  /** Words beside options, without the name of the command. */
  readonly words: readonly string[];
  readonly values: Readonly<Record<string, string | boolean | undefined>>;
  readonly output: Output;
}

/** One command. */
export interface Command {
  /** As it is typed: `dead list`. */
  readonly name: string;
  /** One line for the overview. */
  readonly summary: string;
  /** Words that it takes, for the usage line: `ID`, `[ID ...]`. */
  readonly takes: string;
  readonly words: { readonly min: number; readonly max: number };
  readonly options: Options;
  /** What the summary does not say. Lines. */
  readonly details: readonly string[];
  /** Lines to type, with what they do. */
  readonly examples: readonly (readonly [line: string, what: string])[];
  /** Resolves with the exit code. Throws UsageError, or an error of the store. */
  readonly run: (invocation: Invocation) => Promise<number>;
}
