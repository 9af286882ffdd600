import type { Figure } from './drill.ts';

/** Figures of a drill, and what had to hold. */
export interface Account {
  readonly figure: (name: string, value: Figure) => void;
  /** Notes something that must hold; the drill goes on either way. `detail` is shown when it does not. */
  readonly must: (what: string, holds: boolean, detail?: string) => void;
  readonly figures: Readonly<Record<string, Figure>>;
  /** What was looked at, each once, as often as it held. */
  readonly held: readonly string[];
  /** What did not hold, with details. */
  readonly broken: readonly string[];
}

/** An account in which nothing was looked at yet. */
export function newAccount(): Account {
  const figures: Record<string, Figure> = {};
  const held = new Set<string>();
  const failed = new Set<string>();
  const broken: string[] = [];
  return {
    figures,
    get held() {
      return [...held].filter((what) => !failed.has(what));
    },
    broken,
    figure(name, value) {
      figures[name] = typeof value === 'number' ? Math.round(value * 100) / 100 : value;
    },
    must(what, holds, detail) {
      if (holds) {
        held.add(what);
        return;
      }
      failed.add(what);
      broken.push(detail === undefined ? what : `${what}: ${detail}`);
    },
  };
}
