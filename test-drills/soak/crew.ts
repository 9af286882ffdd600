import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Actor, ActorTask, Role, StartActor } from './actor.ts';

/** What the tasks of a crew have in common. */
type CommonTask = Omit<
  ActorTask,
  'name' | 'role' | 'trace' | 'seed' | 'jobs' | 'perSecond' | 'mayCrash' | 'road'
>;

/** How many of each, and what they have to do. */
export interface CrewPlan {
  readonly common: CommonTask;
  readonly workers: number;
  readonly producers: number;
  readonly jobs: number;
  readonly perSecond: number;
  readonly seed: number;
  readonly folder: string;
}

/** One place of the crew, filled again when who fills it has ended. */
interface Post {
  readonly role: Role;
  readonly number: number;
  actor: Actor;
  /** What those before accepted. */
  before: number;
  /** Stopped on purpose; whoever stops it starts the next. */
  isRelieved: boolean;
  /** For good. */
  isGone: boolean;
}

const RESTART_MS = 200;
const TRY_AGAIN_MS = 1000;

/** All processes of a soak. The first worker and the last producer are veterans: they live through all of it. */
export class Crew {
  /** Parts of the history. */
  readonly files: string[] = [];
  readonly complaints: string[] = [];
  readonly #plan: CrewPlan;
  readonly #start: StartActor;
  readonly #posts: Post[] = [];
  readonly #keeping: Promise<void>[] = [];
  #started = 0;
  #attempts = 0;
  #isOver = false;

  constructor(plan: CrewPlan, start: StartActor) {
    this.#plan = plan;
    this.#start = start;
  }

  async begin(): Promise<void> {
    const { workers, producers } = this.#plan;
    const wanted: readonly (readonly [Role, number])[] = [
      ...Array.from({ length: workers }, (_, index) => ['worker', index] as const),
      ...Array.from({ length: producers }, (_, index) => ['producer', index] as const),
    ];
    const begun = await Promise.all(
      wanted.map(async ([role, number]): Promise<Post> => {
        const actor = await this.#fill(role, number, 0);
        return { role, number, actor, before: 0, isRelieved: false, isGone: false };
      }),
    );
    this.#posts.push(...begun);
    for (const post of begun) this.#keeping.push(this.#keep(post));
  }

  /** Those at work. `losable`: without the veterans. */
  at(role: Role, losable = false): readonly Actor[] {
    return this.#posts
      .filter((post) => post.role === role && !(losable && this.#isVeteran(role, post.number)))
      .map(({ actor }) => actor);
  }

  veterans(): readonly Actor[] {
    return this.#posts.filter(({ role, number }) => this.#isVeteran(role, number)).map(({ actor }) => actor);
  }

  get accepted(): number {
    return this.#posts.reduce((sum, { before, actor }) => sum + before + actor.state.accepted, 0);
  }

  get attempts(): number {
    return this.#posts.reduce((sum, { actor }) => sum + actor.state.attempts, this.#attempts);
  }

  get isProduced(): boolean {
    return this.#posts.every(({ role, actor }) => role === 'worker' || actor.state.isDone);
  }

  /** One after the other, as a deploy does it; the veteran stays. */
  async roll(): Promise<void> {
    for (const post of this.#posts) {
      if (post.role !== 'worker' || this.#isVeteran('worker', post.number) || this.#isOver) continue;
      // Its next is being started already.
      if (!post.actor.running) continue;
      post.isRelieved = true;
      await post.actor.stop();
      await post.actor.exited;
      await this.#replace(post);
      post.isRelieved = false;
      this.#keeping.push(this.#keep(post));
    }
  }

  async stop(role: Role): Promise<void> {
    if (role === 'worker') this.#isOver = true;
    const leaving = this.#posts.filter((post) => post.role === role);
    for (const post of leaving) post.isGone = true;
    await Promise.all(leaving.map(({ actor }) => actor.stop()));
    if (role === 'worker') await Promise.all(this.#keeping);
  }

  /** Whatever still runs, at once. */
  async kill(): Promise<void> {
    this.#isOver = true;
    await Promise.all(
      this.#posts.map(async ({ actor }) => {
        actor.thaw();
        await actor.kill();
      }),
    );
    // One that was being started is stopped by whoever started it.
    await Promise.all(this.#keeping);
  }

  async #keep(post: Post): Promise<void> {
    for (;;) {
      await post.actor.exited;
      if (post.isRelieved || post.isGone || this.#isOver) return;
      await sleep(RESTART_MS);
      await this.#replace(post);
    }
  }

  async #replace(post: Post): Promise<void> {
    const { state } = post.actor;
    post.before += state.accepted;
    this.#attempts += state.attempts;
    while (!this.#isOver && !post.isGone) {
      try {
        post.actor = await this.#fill(post.role, post.number, post.before);
        // Whoever stopped the crew meanwhile has not seen this one.
        if (this.#isOver || post.isGone) await post.actor.stop();
        return;
      } catch (error) {
        // A store that is away lets nobody start; a process manager tries again.
        this.complaints.push(String(error));
        await sleep(TRY_AGAIN_MS);
      }
    }
  }

  #fill(role: Role, number: number, before: number): Promise<Actor> {
    const { common, jobs, perSecond, producers, seed, folder } = this.#plan;
    const serial = ++this.#started;
    const trace = join(folder, `${role}-${number + 1}-${serial}.jsonl`);
    this.files.push(trace);
    const isProducer = role === 'producer';
    return this.#start({
      ...common,
      name: `${role}-${number + 1}`,
      role,
      trace,
      seed: seed + 1000 * serial,
      jobs: isProducer ? Math.max(0, Math.ceil(jobs / producers) - before) : 0,
      perSecond: isProducer ? perSecond / producers : 0,
      mayCrash: !isProducer && !this.#isVeteran(role, number),
      road: roadOf(role, number),
    });
  }

  #isVeteran(role: Role, number: number): boolean {
    return role === 'worker' ? number === 0 : number === this.#plan.producers - 1;
  }
}

/** A worker and a producer share one road, another worker has one, the others go straight. */
function roadOf(role: Role, number: number): number | null {
  if (number === 0) return 0;
  return role === 'worker' && number === 1 ? 1 : null;
}
