import type { Command } from '../command.ts';
import { check } from './check.ts';
import { deadList } from './dead-list.ts';
import { discard, redrive } from './dead-move.ts';
import { deadShow } from './dead-show.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { drill } from './drill.ts';
import { jobsShow } from './jobs-show.ts';
import { migrate } from './migrate.ts';
import { pause, resume } from './pacing.ts';
import { status } from './status.ts';
import { verify } from './verify.ts';

/** Every command, in the order of the overview. None of them loads an adapter before it is run. */
export const COMMANDS: readonly Command[] = [
  status,
  jobsShow,
  deadList,
  deadShow,
  redrive,
  discard,
  pause,
  resume,
  migrate,
  doctor,
  verify,
  check,
  drill,
  demo,
];
