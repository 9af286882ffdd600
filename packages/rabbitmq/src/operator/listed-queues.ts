import { itemsOf, type Management } from './management.ts';

/** One queue of the broker, as the management API tells of it. */
export interface ListedQueue {
  readonly name: string;
  /** The node that leads it; null: none does. */
  readonly leader: string | null;
  readonly members: readonly string[];
  readonly online: readonly string[];
  /** Names of the policies that apply. */
  readonly policies: readonly string[];
  /** What they set together. */
  readonly settings: Readonly<Record<string, unknown>>;
}

const COLUMNS = [
  'name',
  'leader',
  'members',
  'online',
  'policy',
  'operator_policy',
  'effective_policy_definition',
];
/** The most that the API takes. */
const PAGE = 500;

/** All queues of Surety under a prefix. */
export async function listUnder(
  api: Management,
  vhost: string,
  prefix: string,
): Promise<readonly ListedQueue[]> {
  const found: ListedQueue[] = [];
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = new URLSearchParams({
      page: String(page),
      page_size: String(PAGE),
      name: `^${prefix}\\.`,
      use_regex: 'true',
      // Asked for twice: an item is cut down by the plain names first, the page by the others then.
      columns: [...COLUMNS, 'page_count', ...COLUMNS.map((column) => `items.${column}`)].join(','),
    });
    const answer = (await api.get(`queues/${encodeURIComponent(vhost)}?${query.toString()}`)) as {
      readonly page_count?: unknown;
      readonly items?: unknown;
    };
    pages = Number(answer.page_count ?? 1);
    found.push(...itemsOf(answer.items).map(listedOf));
  }
  return found;
}

/** The job queues among them. */
export function queuesIn(listed: readonly ListedQueue[], prefix: string): readonly string[] {
  const names = listed.map(({ name }) => name.slice(prefix.length + 1));
  return names.filter((name) => !name.includes('.'));
}

function listedOf(item: Readonly<Record<string, unknown>>): ListedQueue {
  const leader = item['leader'];
  const settings = item['effective_policy_definition'];
  return {
    name: String(item['name']),
    leader: typeof leader === 'string' && leader !== '' ? leader : null,
    members: textsIn(item['members']),
    online: textsIn(item['online']),
    policies: [item['policy'], item['operator_policy']].filter(
      (name): name is string => typeof name === 'string' && name !== '',
    ),
    settings: typeof settings === 'object' && settings !== null ? (settings as ListedQueue['settings']) : {},
  };
}

function textsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
