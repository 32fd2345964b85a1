// XState names the way of events to an actor so.
/* oxlint-disable no-underscore-dangle */
import type { Snapshot } from 'xstate'
import { nanoid } from 'nanoid'
import { type ErrorInfo, messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { isDurableLogic, kindOf } from './actorKinds.ts'
import { isObject } from '../../../../src/protocol/checks/isObject.ts'
import { stepNow } from './naming.ts'
import type { DurableEffects } from './hostTypes.ts'

/** Arguments of a durable effect. */
export interface DurableArgs<Input> {
  readonly input: Input
  /** Key of this effect, the same whenever it runs again after a crash. Pass it to other services as the idempotency key. */
  readonly key: string
  /** Aborted when the machine leaves the state, or is closed. */
  readonly signal: AbortSignal
}

/** Snapshot of a durable effect's actor. */
export type DurableSnapshot<Output, Input> = Snapshot<Output> & {
  readonly input: Input | undefined
  readonly key: string
}

/** Part of an actor's scope that is used. Every copy of XState provides it. */
interface Scope {
  readonly self: object
  readonly system: object
}

/** An actor from any copy of XState. */
export interface EffectActor {
  readonly id: string
  getSnapshot(): { readonly status: string }
  _send(event: object): void
}

/** Actor logic of a durable effect, for `setup({ actors })` and `invoke`. */
export interface DurableLogic<Output, Input> {
  transition(
    snapshot: DurableSnapshot<Output, Input>,
    event: { type: string },
    scope: Scope,
  ): DurableSnapshot<Output, Input>
  getInitialSnapshot(scope: Scope, input: Input): DurableSnapshot<Output, Input>
  restoreSnapshot(persisted: Snapshot<unknown>, scope: Scope): DurableSnapshot<Output, Input>
  start(snapshot: DurableSnapshot<Output, Input>, scope: Scope): void
  getPersistedSnapshot(snapshot: DurableSnapshot<Output, Input>): Snapshot<unknown>
}

/** Actor logic that `fromPromise` of any copy of XState returns. */
export interface PromiseLogic<Output, Input> {
  readonly config?: unknown
  transition(snapshot: never, event: never, scope: never): Snapshot<Output>
  getInitialSnapshot(scope: never, input: Input): Snapshot<Output>
  start?: unknown
}

/** An effect to run: for its actor, under its key. */
export interface Effect {
  readonly actor: EffectActor
  readonly key: string
  readonly effects: DurableEffects
  /** Aborted when the actor is stopped. */
  readonly signal: AbortSignal
  run(): PromiseLike<unknown>
}

/** Outcome of an effect. */
export interface EffectEnd {
  readonly output?: unknown
  readonly error?: ErrorInfo
}

/** Returns the plain data that a machine receives for a failure, with the code of the error if it has one. */
export function effectError(thrown: unknown): ErrorInfo {
  const code: unknown = isObject(thrown) && 'code' in thrown ? thrown.code : undefined
  return { code: typeof code === 'string' ? code : 'EFFECT_FAILED', message: messageOf(thrown) }
}

/** An agent of a hosted machine. */
export interface HostedLife {
  /** True while the agent works, and waits neither for people nor for a time. */
  readonly isBusy: boolean
  /** Resolves once the actor has tried to open its agent. Never rejects. */
  readonly opened: Promise<void>
  /** Resolves once the agent does nothing more by itself. Never rejects. */
  settled(): Promise<void>
  /** Ends the agent as a crash would: it continues when the machine is opened again. Never rejects. */
  suspend(): Promise<void>
}

/** Host of the actors of one system. */
export interface ActorHost {
  /** True if the machine was taken from another process, so that its agents are taken over too. */
  readonly takesOver: boolean
  /** Runs an effect, and records it before and after. */
  run(effect: Effect): void
  /** Takes an event that an agent sends to the machine. */
  arrived(event: { readonly type: string }, source: { readonly id: string }): void
  /** Adds an agent to those that the host waits for and ends. */
  follow(life: HostedLife): void
  /** Holds back the record of the current step until `taken` resolves: `true` when the agent has the command. */
  owe(taken: Promise<boolean>): void
}

/** Hosts by the system of their machine. Actors outside hosted machines have no entry. */
export const actorHosts = new WeakMap<object, ActorHost>()

/** Event that ends an effect's actor. Recognized by its class, so that it cannot be forged. */
export class EffectEnded {
  readonly type = 'effect.ended'
  readonly end: EffectEnd

  constructor(end: EffectEnd) {
    this.end = end
  }
}

const kinds: ReadonlySet<string> = new Set<DurableEffects>(['none', 'idempotent', 'irreversible'])

const isFunction = (value: unknown): value is (args: object) => PromiseLike<never> => typeof value === 'function'

/**
 * An effect of a hosted machine that is recorded before and after it runs. After a crash in between, `effects` decides: `none` and `idempotent`
 * effects run again under the same `key`. An `irreversible` effect does not, and its actor fails with `EFFECT_INTERRUPTED`. Its output is JSON of
 * at most 256 kB. Takes a function, or what `fromPromise` returned. In a machine that is not hosted it runs like any promise.
 *
 * @throws RuntimeError `INVALID_OPTION`
 *
 * @example
 * ```ts
 * import { durable, type DurableArgs } from 'escapement/xstate'
 *
 * const charge = durable(
 *   async ({ input, key, signal }: DurableArgs<{ cents: number }>) =>
 *     fetch('https://bank.example/charges', { method: 'POST', body: String(input.cents), headers: { 'idempotency-key': key }, signal }).then(({ status }) => status),
 *   { effects: 'idempotent' },
 * )
 * ```
 */
export function durable<Output, Input>(
  work: ((args: DurableArgs<Input>) => PromiseLike<Output>) | PromiseLogic<Output, Input>,
  options: { readonly effects: DurableEffects },
): DurableLogic<Output, Input> {
  const creator: unknown = kindOf(work) === 'promise' && isObject(work) && 'config' in work ? work.config : work
  if (!isFunction(creator))
    throw new RuntimeError(
      'INVALID_OPTION',
      'durable: give a function that returns a promise, or what fromPromise returned.',
    )
  const effects = options?.effects
  if (!kinds.has(effects))
    throw new RuntimeError(
      'INVALID_OPTION',
      `durable: effects is "${effects}"; give "none", "idempotent" or "irreversible".`,
    )
  const running = new WeakMap<object, AbortController>()

  return isDurableLogic<DurableLogic<Output, Input>>({
    getInitialSnapshot: ({ self }, input) => {
      const step = stepNow()
      const { id } = self as EffectActor
      const key = step === undefined ? nanoid() : `${step.hostId}/${step.seq}/${id}`
      return { status: 'active', output: undefined, error: undefined, input, key }
    },
    restoreSnapshot: (kept) => kept as DurableSnapshot<Output, Input>,
    getPersistedSnapshot: (snapshot) => snapshot,
    transition: (snapshot, event, { self }) => {
      if (snapshot.status !== 'active') return snapshot
      const received: unknown = event
      const { key } = snapshot
      if (received instanceof EffectEnded) {
        const { output, error } = received.end
        return error === undefined
          ? { status: 'done', output: output as Output, error: undefined, input: undefined, key }
          : { status: 'error', output: undefined, error, input: undefined, key }
      }
      if (event.type !== 'xstate.stop') return snapshot
      running.get(self)?.abort(new Error('The effect was stopped.'))
      return { status: 'stopped', output: undefined, error: undefined, input: undefined, key }
    },
    start: ({ status, input, key }, { self, system }) => {
      if (status !== 'active') return
      const controller = new AbortController()
      running.set(self, controller)
      const { signal } = controller
      const actor = self as EffectActor
      const run = async (): Promise<unknown> => creator({ input, key, signal, self, system, emit: () => {} })
      const host = actorHosts.get(system)
      if (host === undefined) runUnrecorded(actor, run)
      else host.run({ actor, key, effects, signal, run })
    },
  })
}

/** Runs an effect of a machine that is not hosted. */
function runUnrecorded(actor: EffectActor, run: () => Promise<unknown>): void {
  run().then(
    (output) => actor._send(new EffectEnded({ output })),
    (thrown: unknown) => actor._send(new EffectEnded({ error: effectError(thrown) })),
  )
}
