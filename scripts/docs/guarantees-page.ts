import { CASES } from '@surety/conformance';
import { GUARANTEES, PROMISES } from '@surety/core';

/** The promises with their sub-clauses, and what proves each. */
export function guaranteesPage(): string {
  const sections = Object.entries(PROMISES).map(([promise, name]) => {
    const rows = GUARANTEES.filter(({ id }) => id.startsWith(`${promise}.`)).map(
      ({ id, text, proof }) =>
        `| ${id} | ${text} | ${proof === 'core' ? "core's own tests" : casesOf(id)} |\n`,
    );
    return `## ${promise}: ${name}\n\n| id | what holds | proven by |\n| --- | --- | --- |\n${rows.join('')}`;
  });
  return `${INTRODUCTION}\n${sections.join('\n')}`;
}

function casesOf(id: string): string {
  return CASES.filter(({ guarantee }) => guarantee === id)
    .map((one) => `\`${one.id.slice(one.id.indexOf('/') + 1)}\``)
    .join(', ');
}

const INTRODUCTION = `# Guarantees

The ids stay. A case of the suite is named after the sub-clause that it proves; \`npm run conformance -- NAME --only G2.4\` asks one of
them. How a backend stands to each is in its report under \`reports/conformance\`.
`;
