import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
}

interface Job {
  readonly 'runs-on'?: string;
  readonly 'timeout-minutes'?: number;
  readonly permissions?: Readonly<Record<string, string>> | string;
  readonly needs?: string | readonly string[];
  readonly strategy?: { readonly matrix?: Readonly<Record<string, unknown>> };
  readonly steps?: readonly Step[];
}

/** The parts of a workflow that the rules look at. */
export interface Workflow {
  readonly on?: unknown;
  readonly permissions?: unknown;
  readonly jobs: Readonly<Record<string, Job>>;
}

/** The jobs that may change something outside themselves, with all that they may; every other job reads. */
const MAY_WRITE: Readonly<Record<string, readonly string[]>> = {
  'release.yml version': ['contents', 'pull-requests'],
  'release.yml publish': ['contents', 'id-token'],
};
/** The gate takes minutes; a job that takes longer than this hangs. */
const LONGEST_MINUTES = 60;

/** What is wrong with a workflow, one sentence each. */
export function workflowFindings(file: string, text: string): string[] {
  const workflow = parse(text) as Workflow;
  const pins = text
    .split('\n')
    .filter((line) => /^\s*(?:- )?uses:/.test(line) && !/@[0-9a-f]{40} # v\d+(?:\.\d+)*$/.test(line))
    .map((line) => `is not pinned to a commit with its version beside it: ${line.trim()}`);
  return [
    ...pins,
    ...(isEmptyObject(workflow.permissions) ? [] : ['grants permissions to all its jobs']),
    ...(JSON.stringify(workflow.on).includes('pull_request_target') ? ['runs on pull_request_target'] : []),
    ...Object.entries(workflow.jobs).flatMap(([name, job]) => jobFindings(file, name, job, workflow)),
  ].map((finding) => `${file}: ${finding}`);
}

function jobFindings(file: string, name: string, job: Job, workflow: Workflow): string[] {
  const wrong: string[] = [];
  const minutes = job['timeout-minutes'];
  if (minutes === undefined || minutes > LONGEST_MINUTES) wrong.push('has no time limit, or a long one');
  if (!/-\d/.test(job['runs-on'] ?? '')) wrong.push('runs on an image without a version');
  for (const needed of [job.needs ?? []].flat())
    if (!(needed in workflow.jobs)) wrong.push(`needs ${needed}, which is not there`);
  wrong.push(...permissionFindings(job.permissions, MAY_WRITE[`${file} ${name}`] ?? []));
  for (const step of job.steps ?? []) wrong.push(...stepFindings(step));
  return wrong.map((finding) => `job ${name} ${finding}`);
}

function permissionFindings(permissions: Job['permissions'], mayWrite: readonly string[]): string[] {
  if (typeof permissions !== 'object') return ['does not list its permissions'];
  return Object.entries(permissions)
    .filter(([scope, access]) => access !== 'read' && !mayWrite.includes(scope))
    .map(([scope, access]) => `has ${scope}: ${access}`);
}

function stepFindings(step: Step): string[] {
  if (step.run?.includes('${{') === true)
    return ['puts an expression into a script, where a title or a branch name can be code: use env'];
  if (step.uses?.startsWith('actions/checkout@') === true && step.with?.['persist-credentials'] !== false)
    return ['leaves the token in .git: persist-credentials must be false'];
  return [];
}

function isEmptyObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}
