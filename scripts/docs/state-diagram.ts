import { TRANSITIONS } from '@surety/core';

/** What of the verbs a reader of the diagram would not guess. */
const HINTS: Readonly<Record<string, string>> = { due: 'its time has come', expire: 'its lease has ended' };

/** The moves of a job as a mermaid diagram, from core's own table. */
export function stateDiagram(): string {
  const arrows = new Map<string, string[]>();
  for (const { verb, from, to } of TRANSITIONS) {
    const arrow = `${place(from, 'new')} --> ${place(to, 'gone')}`;
    arrows.set(arrow, [...(arrows.get(arrow) ?? []), HINTS[verb] ?? verb]);
  }
  const lines = [...arrows].map(([arrow, verbs]) => `  ${arrow}: ${verbs.join(', ')}`);
  return ['```mermaid', 'stateDiagram-v2', '  direction LR', ...lines, '```'].join('\n');
}

function place(state: string, outside: 'new' | 'gone'): string {
  return state === outside ? '[*]' : state;
}
