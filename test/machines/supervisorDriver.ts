import { initialTransition, transition, type SnapshotFrom } from 'xstate'
import type { CallOutput, SubAgentInput } from '../../src/machines/effectTypes.ts'
import { supervisorMachine } from '../../src/machines/supervisorMachine.ts'
import type { OpenOutput, SupervisorContext, WatchOutput } from '../../src/machines/supervisorTypes.ts'
import type { RestartPolicy } from '../../src/protocol/runs/restarts.ts'
import { stateName, testAgent } from '../support/machineDriver.ts'

export type SupervisorState = SnapshotFrom<typeof supervisorMachine>

/** Ids of the supervisor's effects. */
type SupervisorEffect = 'open' | 'agent' | 'watch' | 'backoff'

const patient: RestartPolicy = { restart: 'transient', maxRestarts: 3, windowMs: 10_000, backoffMs: 100 }

/** Input of a supervisor: a call's by default, code's with `callId: null`. */
export const supervised = (callId: string | null = 'c1'): SubAgentInput => ({
  agentId: 'a',
  runId: 'a/r0',
  turnIndex: 0,
  key: 'a/t0/tool/c1',
  callId,
  name: 'helper',
  input: { task: 'x' },
  childId: 'a.1',
  allowance: {},
})

export const answer = (text: string, more: Partial<CallOutput> = {}): CallOutput => ({
  key: 'a/t0/tool/c1',
  content: [{ type: 'text', text }],
  isError: false,
  tokens: 1,
  at: 0,
  ...more,
})

/** Output of `openChild`. */
export const opened = (policy: Partial<RestartPolicy> = {}): OpenOutput => ({
  ok: true,
  agent: testAgent(),
  policy: { ...patient, ...policy },
})

/** Output of `watchChild`. */
export const ended = (at: number, more: Partial<CallOutput> = {}): WatchOutput => ({
  type: 'ended',
  output: answer('well done', more),
  at,
})
export const crashed = (at: number): WatchOutput => ({
  type: 'crashed',
  error: { code: 'INTERNAL', message: 'a defect' },
  output: answer('a defect', { isError: true }),
  at,
})

interface Started {
  readonly id: SupervisorEffect
  readonly src: string
  readonly input: unknown
}

/** Runs the supervisor machine as a pure function: no actor, no clock. Throws when the machine fails. */
export class SupervisorDriver {
  /** Effects under way. */
  readonly underway = new Map<SupervisorEffect, Started>()
  readonly started: Started[] = []
  /** Commands to the agent, in order. */
  readonly told: string[] = []
  #snapshot: SupervisorState

  constructor(callId: string | null = 'c1') {
    const [snapshot, actions] = initialTransition(supervisorMachine, supervised(callId))
    this.#snapshot = snapshot
    this.#take(actions)
  }

  get state(): string {
    return stateName(this.#snapshot.value)
  }

  /** `done` once it is over. */
  get status(): SupervisorState['status'] {
    return this.#snapshot.status
  }

  get context(): SupervisorContext {
    return this.#snapshot.context
  }

  /** Output for the caller; `undefined` until it is over. */
  get output(): CallOutput | undefined {
    return this.#snapshot.output
  }

  /** Texts of the output, or of what it would be now. */
  get said(): string {
    const { content } = this.output ?? this.context.output
    return content.map((block) => (block.type === 'text' ? block.text : '')).join('')
  }

  tell(type: 'abort' | 'stop' | 'close'): void {
    this.#step({ type })
  }

  finish(id: SupervisorEffect, output: unknown): void {
    this.underway.delete(id)
    this.#step({ type: `xstate.done.actor.${id}`, output, actorId: id })
  }

  fail(id: SupervisorEffect, message: string): void {
    this.underway.delete(id)
    this.#step({ type: `xstate.error.actor.${id}`, error: new Error(message), actorId: id })
  }

  /** Takes the backoff under way to its end, and says when that is. */
  wake(): number {
    const { input } = this.underway.get('backoff')!
    this.finish('backoff', input)
    return (input as { readonly until: number }).until
  }

  #step(event: { readonly type: string; readonly [field: string]: unknown }): void {
    // As with a live actor, nothing happens to one that has ended.
    if (this.status !== 'active') return
    const [snapshot, actions] = transition(supervisorMachine, this.#snapshot, event as never)
    if (snapshot.status === 'error') throw new Error(`the supervisor failed: ${String(snapshot.error)}`)
    this.#snapshot = snapshot
    this.#take(actions)
  }

  #take(actions: readonly { readonly type: string; readonly params?: unknown }[]): void {
    for (const { type, params } of actions) {
      if (type === 'xstate.spawnChild') {
        const child = params as Started
        this.underway.set(child.id, child)
        this.started.push({ id: child.id, src: child.src, input: child.input })
      } else if (type === 'xstate.stopChild') this.underway.delete((params as Started).id)
      else if (type === 'xstate.sendTo') this.told.push((params as { event: { type: string } }).event.type)
      else throw new Error(`the supervisor asked for an unknown action ${type}`)
    }
  }
}

export type SupervisorPlace = 'opening' | 'running' | 'backoff' | 'ended' | 'givenUp'

const roads: { readonly [P in SupervisorPlace]: (driver: SupervisorDriver) => void } = {
  opening: () => {},
  running: (driver) => driver.finish('open', opened()),
  backoff: (driver) => {
    driver.finish('open', opened())
    driver.finish('watch', crashed(1_000))
  },
  ended: (driver) => {
    driver.finish('open', opened())
    driver.finish('watch', ended(1_000))
  },
  givenUp: (driver) => {
    driver.finish('open', opened({ restart: 'never' }))
    driver.finish('watch', crashed(1_000))
  },
}

export const supervisorPlaces = Object.keys(roads) as SupervisorPlace[]

/** A fresh supervisor taken to a place. */
export function supervisorIn(place: SupervisorPlace, callId: string | null = 'c1'): SupervisorDriver {
  const driver = new SupervisorDriver(callId)
  roads[place](driver)
  if (driver.state !== place) throw new Error(`the road to ${place} led to ${driver.state}`)
  return driver
}
