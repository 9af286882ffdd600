import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Workflow, workflowFindings } from '../workflows/workflow-rules.ts';

const folder = join(import.meta.dirname, '../../.github/workflows');
const files = readdirSync(folder).filter((name) => /\.ya?ml$/.test(name));

const SOUND = `
on: { push: { branches: [main] } }
permissions: {}
jobs:
  first:
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions:
      contents: read
    steps:
      - uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2
        with:
          persist-credentials: false
      - run: echo "$TITLE"
        env:
          TITLE: \${{ github.event.pull_request.title }}
  second:
    needs: [first]
    runs-on: ubuntu-24.04
    timeout-minutes: 10
    permissions: {}
    steps:
      - run: 'true'
`;

describe('the workflows of this repository', () => {
  test.each(files)('%s keeps the rules', (file) => {
    expect(workflowFindings(file, readFileSync(join(folder, file), 'utf8'))).toEqual([]);
  });

  test('conformance runs what select-conformance selects, on both lines of Node', () => {
    const { jobs } = parse(readFileSync(join(folder, 'conformance.yml'), 'utf8')) as Workflow;
    expect(jobs['suite']?.strategy?.matrix).toEqual({
      run: '${{ fromJSON(needs.select.outputs.runs) }}',
      node: [22, 24],
    });
    const select = jobs['select']?.steps?.flatMap(({ run }) => run ?? []);
    expect(select).toEqual(['node scripts/select-conformance.ts "$BASE" >> "$GITHUB_OUTPUT"']);
    const suite = jobs['suite']?.steps?.flatMap(({ run }) => run ?? []);
    expect(suite?.at(-1)).toBe(
      'node packages/conformance/dist/cli.js "$BACKEND" ${VARIANT:+--variant "$VARIANT"}',
    );
  });
});

describe('the rules', () => {
  test('find nothing in a sound workflow', () => {
    expect(workflowFindings('x.yml', SOUND)).toEqual([]);
  });

  const broken: readonly (readonly [string, string, string, RegExp])[] = [
    ['a tag in place of a commit', '@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2', '@v4', /not pinned/],
    ['a commit without its version', ' # v4.2.2', '', /not pinned/],
    [
      'permissions for all jobs',
      'permissions: {}\njobs',
      'permissions: { contents: read }\njobs',
      /all its jobs/,
    ],
    ['no word on permissions', '    permissions:\n      contents: read\n', '', /does not list/],
    ['a right to write', 'contents: read', 'contents: write', /contents: write/],
    ['no time limit', '    timeout-minutes: 10\n    permissions:\n', '    permissions:\n', /time limit/],
    ['a long time limit', 'timeout-minutes: 10', 'timeout-minutes: 360', /time limit/],
    ['a moving image', 'ubuntu-24.04', 'ubuntu-latest', /image/],
    ['a need that is not there', '[first]', '[frist]', /needs frist/],
    ['an expression in a script', 'echo "$TITLE"', 'echo "${{ github.head_ref }}"', /use env/],
    ['a token left in .git', 'persist-credentials: false', 'fetch-depth: 0', /persist-credentials/],
    ['rights for strangers', 'push: { branches: [main] }', 'pull_request_target: {}', /pull_request_target/],
  ];
  test.each(broken)('find %s', (_, sound, fault, finding) => {
    expect(SOUND).toContain(sound);
    const found = workflowFindings(
      'x.yml',
      SOUND.replace(sound, () => fault),
    );
    expect(found.join('\n')).toMatch(finding);
  });
});
