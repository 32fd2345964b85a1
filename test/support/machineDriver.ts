import { isDeepStrictEqual } from 'node:util'
import { initialTransition, transition, type SnapshotFrom } from 'xstate'
import { agentMachine } from '../../src/machines/agentMachine.ts'
import type { AgentContext, AgentInput, AgentMachineEvent } from '../../src/machines/agentTypes.ts'
import type { AgentPolicy } from '../../src/machines/agentPolicy.ts'
import type {
  CallInput,
  HookInput,
  PrepareInput,
  ReplyInput,
  SettleInput,
  SleepInput,
  SubAgentInput,
} from '../../src/machines/effectTypes.ts'
import type {
  CompactInput,
  ConsultInput,
  DrainInput,
  FoldInput,
  StallInput,
  UndoInput,
} from '../../src/machines/drainTypes.ts'
import { checkLogged } from './loggedContext.ts'
import { type LogRecord, logRecordSchema, type RecordOf } from '../../src/protocol/records.ts'

interface ChildInputs {
  prepareTurn: PrepareInput
  streamReply: ReplyInput
  askHook: HookInput
  runTool: CallInput
  subAgent: SubAgentInput
  sleep: SleepInput
  settle: SettleInput
  compactTrunk: CompactInput
  drainPins: DrainInput<'pin'>
  drainReverts: DrainInput<'revert'>
  drainGrafts: DrainInput<'graft'>
  drainPrunes: DrainInput<'prune'>
  drainFold: FoldInput
  drainStall: StallInput
  consultPolicies: ConsultInput
  undoCall: UndoInput
}

/** An effect the machine asked for; `nth` counts every effect it ever asked for, from 0. */
export type Child = {
  [S in keyof ChildInputs]: {
    readonly nth: number
    readonly id: string
    readonly src: S
    readonly input: ChildInputs[S]
  }
}[keyof ChildInputs]
export type ChildOf<S extends Child['src']> = Extract<Child, { readonly src: S }>

/** One thing that happened to an agent: with the list of them any host can be taken down the same road. */
export type Step =
  | { readonly type: 'send'; readonly event: AgentMachineEvent }
  /** The effect `nth` ended, in time or too late. */
  | { readonly type: 'finish'; readonly nth: number; readonly output: unknown }
  | { readonly type: 'crash'; readonly nth: number; readonly message: string }

export const testPolicy: AgentPolicy = {
  flags: { revert: false, prune: false, fold: false, stall: false, policies: false, compact: true },
  toolExecution: 'parallel',
  queueMode: 'one-at-a-time',
  limits: {},
  retry: { attempts: 3, baseMs: 1_000, maxMs: 8_000, maxRetryAfterMs: 60_000 },
  outputAttempts: 3,
  compaction: { trigger: 10_000, regrowth: 1_000 },
  agents: [],
  maxChildren: 16,
  irreversible: [],
  reversible: [],
  polling: [],
  reports: [],
  continuable: [],
  policies: { names: ['tidy', 'review'], atRest: false },
  maxCallsPerReply: 128,
}

export const testAgent = (policy: Partial<AgentPolicy> = {}) => ({
  agentId: 'a',
  path: ['root'],
  definition: 'tester',
  model: { id: 'test:model' },
  policy: { ...testPolicy, ...policy },
})

export interface MachineOptions {
  readonly policy?: Partial<AgentPolicy>
  readonly machine?: typeof agentMachine
  /** Further fields of its input. */
  readonly input?: Pick<AgentInput, 'restored' | 'task'>
  readonly records?: readonly LogRecord[]
}

type Action = { readonly type: string; readonly params?: unknown }

/**
 * Runs the agent machine as a pure function: no actor, no clock. Keeps the records and the effects that are outstanding, and checks on
 * every step what must hold at all times, also that its records describe its new state. Throws at the first breach.
 */
export class MachineDriver {
  readonly records: LogRecord[] = []
  /** Effects under way, by child id. */
  readonly children = new Map<string, Child>()
  readonly started: Child[] = []
  /** Effects told to stop before they had ended: their results may still come in. */
  readonly stopped: Child[] = []
  /** Events sent to children, in order. */
  readonly told: { readonly id: string; readonly type: string }[] = []
  readonly steps: Step[] = []
  /** Called whenever the machine asks for an effect, with the records before it. */
  onStart: ((child: Child) => void) | undefined
  now = 1_000
  #fresh: Child[] = []
  /** The context last seen to be plain JSON. */
  #checked: AgentContext | undefined
  readonly #machine: typeof agentMachine
  #snapshot: SnapshotFrom<typeof agentMachine>

  /** `records` are those of a log that the agent goes on from: `input.restored` is made of them. */
  constructor(options: MachineOptions = {}) {
    const { machine = agentMachine, policy, input, records = [] } = options
    this.#machine = machine
    this.records.push(...records)
    const [snapshot, actions] = initialTransition(this.#machine, { ...testAgent(policy), ...input })
    this.#snapshot = snapshot
    this.#take(actions)
  }

  get context(): AgentContext {
    return this.#snapshot.context
  }

  get status(): string {
    return this.#snapshot.status
  }

  /** Dotted name of the active state: `replying.requesting`. */
  get state(): string {
    return stateName(this.#snapshot.value)
  }

  /** Makes one thing happen. As with a live actor, nothing does once the agent has stopped. */
  step(step: Step): void {
    if (this.status !== 'active') return
    this.steps.push(step)
    if (step.type === 'send') return this.#transition(step.event)
    const child = this.started[step.nth]
    if (child === undefined) throw new Error(`there is no effect ${step.nth}`)
    const { id } = child
    if (this.children.get(id) === child) this.children.delete(id)
    const event =
      step.type === 'finish'
        ? { type: `xstate.done.actor.${id}`, output: step.output, actorId: id }
        : { type: `xstate.error.actor.${id}`, error: new Error(step.message), actorId: id }
    this.#transition(event as unknown as AgentMachineEvent)
  }

  send(event: AgentMachineEvent): void {
    this.step({ type: 'send', event })
  }

  finish(child: Child, output: unknown): void {
    this.step({ type: 'finish', nth: child.nth, output })
  }

  crash(child: Child, message: string): void {
    this.step({ type: 'crash', nth: child.nth, message })
  }

  /** The effect under way of this kind; throws when there is none, or more than one. */
  child<S extends Child['src']>(src: S, id?: string): ChildOf<S> {
    const found = [...this.children.values()].filter((child) => child.src === src && (id ?? child.id) === child.id)
    if (found.length !== 1) throw new Error(`${found.length} effects ${src} are under way in ${this.state}, not 1`)
    return found[0] as ChildOf<S>
  }

  recordsOf<T extends LogRecord['type']>(type: T): RecordOf<T>[] {
    return this.records.filter((record): record is RecordOf<T> => record.type === type)
  }

  #transition(event: AgentMachineEvent): void {
    const [snapshot, actions] = transition(this.#machine, this.#snapshot, event)
    const before = this.context
    const count = this.records.length
    this.#snapshot = snapshot
    this.#take(actions)
    checkLogged(before, this.records.slice(count), this.context)
  }

  #take(actions: readonly Action[]): void {
    for (const action of actions) this.#perform(action)
    for (const child of this.#fresh.splice(0)) this.#confirm(child)
    if (this.status === 'error') throw new Error(`the machine failed: ${String(this.#snapshot.error)}`)
    if (this.context !== this.#checked && !isDeepStrictEqual(JSON.parse(JSON.stringify(this.context)), this.context)) {
      throw new Error(`the context is not plain JSON in ${this.state}`)
    }
    this.#checked = this.context
    const seq = this.records.at(-1)?.seq
    if (this.context.seq !== seq) throw new Error(`context.seq is ${this.context.seq} after record ${seq}`)
  }

  #perform({ type, params }: Action): void {
    switch (type) {
      case 'attach':
        return
      case 'record':
        return (params as readonly object[]).forEach((draft) => this.#record(draft))
      case 'xstate.spawnChild':
        return this.#start(params as Child)
      case 'xstate.stopChild': {
        const id = (params as { id?: string } | undefined)?.id
        const child = id === undefined ? undefined : this.children.get(id)
        if (child === undefined) return
        this.children.delete(child.id)
        if (!this.#fresh.includes(child)) this.stopped.push(child)
        return
      }
      case 'xstate.sendTo': {
        const { to, event } = params as { to: string | { readonly id: string }; event: { readonly type: string } }
        this.told.push({ id: typeof to === 'string' ? to : to.id, type: event.type })
        return
      }
      default:
        throw new Error(`the machine asked for an unknown action ${type}`)
    }
  }

  #record(draft: object): void {
    if ('time' in draft) throw new Error('a record was made with a time')
    const record = { ...draft, time: this.now }
    const parsed = logRecordSchema().parse(record) as LogRecord
    if (!isDeepStrictEqual(parsed, record)) throw new Error(`not all of ${JSON.stringify(record)} is in the schema`)
    if (parsed.seq !== this.records.length + 1)
      throw new Error(`record ${parsed.seq} came after ${this.records.length}`)
    this.records.push(parsed)
  }

  #start(params: { readonly id: string; readonly src: string; readonly input: unknown }): void {
    const { id, src, input } = params
    if (typeof src !== 'string') throw new Error(`the effect ${id} has no name`)
    if (this.children.has(id)) throw new Error(`the effect ${id} is under way already`)
    if (!isDeepStrictEqual(JSON.parse(JSON.stringify(input)), input)) throw new Error(`the input of ${id} is not JSON`)
    const child = { nth: -1, id, src, input } as Child
    this.children.set(id, child)
    this.#fresh.push(child)
  }

  /** An effect that is stopped in the step that asked for it never starts, as with live actors. */
  #confirm(fresh: Child): void {
    if (this.children.get(fresh.id) !== fresh) return
    const child: Child = { ...fresh, nth: this.started.length }
    this.children.set(child.id, child)
    this.started.push(child)
    this.onStart?.(child)
  }
}

export function stateName(value: unknown): string {
  if (typeof value === 'string') return value
  return Object.entries(value as object)
    .map(([state, inner]: [string, unknown]) => `${state}.${stateName(inner)}`)
    .join(',')
}
