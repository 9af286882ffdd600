import { type CodeFacts, ERROR_CODES } from '@surety/core/errors';

const FAMILIES: Readonly<Record<CodeFacts['family'], string>> = {
  setup: 'Found when a process starts: something has to be corrected before it can work',
  capability: 'Asked of a backend that does not offer it',
  backend: 'The store is away, busy or full; nothing was done',
  uncertain: 'The job may or may not be stored',
  data: 'The payload',
  handler: 'Why an attempt failed, or a job died',
  bug: 'Not foreseen',
};

/** The table of error codes, by family. */
export function errorsPage(): string {
  const sections = Object.entries(FAMILIES).map(([family, title]) => {
    const rows = Object.entries(ERROR_CODES)
      .filter(([, facts]) => facts.family === family)
      .map(
        ([code, { retryable, meaning, remedy }]) =>
          `| \`${code}\` | ${retryable} | ${meaning} | ${remedy} |\n`,
      );
    return `## ${family}: ${title}\n\n| code | retryable | meaning | remedy |\n| --- | --- | --- | --- |\n${rows.join('')}`;
  });
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

const INTRODUCTION = `# Errors

Every error of Surety is a \`SuretyError\`; \`isSuretyError(error)\` knows it, also when two copies of the package are installed. Act on
\`code\`, never on the message. The message says what happened, then what to do. \`cause\` is the native error, where there is one.
\`jobId\` is the job it is about.

\`retryable\` tells whether repeating the same call can succeed: \`yes\`, \`no\`, or \`unknown\`, which means that it may have been done
already. An enqueue that ends with \`unknown\` is repeated with the id that the error carries; where the backend states
\`idempotentEnqueue: while-present\`, that cannot store it twice while the first is there.
`;
