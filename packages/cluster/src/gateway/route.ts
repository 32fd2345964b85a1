import type { Command } from '../../../bridge/src/server/front.ts'
import type { WorkerFrame } from './workerFrames.ts'

type Subscribe = Extract<Command, { type: 'agent.subscribe' }>

/** Commands that begin a run. A run that was cut off continues on the worker that such a command reaches again. */
const beginsRun: ReadonlySet<Command['type']> = new Set<Command['type']>([
  'agent.prompt',
  'agent.interrupt',
  'agent.steer',
  'agent.followUp',
  'agent.resume',
  'agent.decide',
])

/** Traffic between a client and one agent: commands that wait for an answer, and the position up to which the client has read. */
export class Route {
  readonly agentId: string
  /** Address of the agent's worker; `undefined` while none is found. */
  url: string | undefined
  isLooking = false
  /**
   * Failures since the last success, consecutive refusals of workers because the agent has moved, and the time of the first failure, in
   * epoch milliseconds.
   */
  failures = 0
  refusals = 0
  failingSince: number | undefined
  /** True once the client was told that the agent cannot be reached. */
  isAway = false
  /** Id of the last request to its worker to continue the subscription at another worker's position. */
  reading: string | undefined
  stopFollowing: (() => void) | undefined
  readonly #unanswered = new Map<string, Command>()
  #subscription: { readonly frame: Subscribe; cursor: number } | undefined
  /** The last command that began a run: sent again to the worker that is to wake the agent. */
  #last: Command | undefined

  constructor(agentId: string) {
    this.agentId = agentId
  }

  get isIdle(): boolean {
    return this.#unanswered.size === 0 && this.#subscription === undefined
  }

  get isSubscribed(): boolean {
    return this.#subscription !== undefined
  }

  get unanswered(): ReadonlyMap<string, Command> {
    return this.#unanswered
  }

  /** The definition of the agent that is to be spawned. */
  get definition(): string | undefined {
    for (const command of this.#unanswered.values()) if (command.type === 'agent.spawn') return command.definition
    return undefined
  }

  failed(now: number, isRefusal = false): void {
    this.failures += 1
    this.refusals = isRefusal ? this.refusals + 1 : 0
    this.failingSince ??= now
  }

  wentWell(): void {
    this.failures = 0
    this.refusals = 0
    this.failingSince = undefined
    this.isAway = false
  }

  ask(command: Command): void {
    this.#unanswered.set(command.id, command)
    if (command.type === 'agent.subscribe') this.#subscription = { frame: command, cursor: (command.fromSeq ?? 1) - 1 }
    else if (command.type === 'agent.unsubscribe') this.#subscription = undefined
  }

  /** Takes the answer to a command; returns `false` if the command was already answered, or is not for this agent. */
  answered({ id = '', type }: WorkerFrame): boolean {
    const command = this.#unanswered.get(id)
    if (command === undefined) return false
    this.#unanswered.delete(id)
    if (type === 'error' && this.#subscription?.frame.id === id) this.#subscription = undefined
    if (type === 'ok' && beginsRun.has(command.type)) this.#last = command
    return true
  }

  /**
   * Returns true if a record is the next one for the client, and moves on; false if the client does not need it; `undefined` if records
   * before it are missing.
   */
  takes(seq: number): boolean | undefined {
    const subscription = this.#subscription
    if (subscription === undefined || seq <= subscription.cursor) return false
    if (seq > subscription.cursor + 1) return undefined
    subscription.cursor = seq
    return true
  }

  /**
   * Returns the frames for a worker that has received none yet: those of the client, and under an
   * id of `ownId` a subscription whose answer the client does not need.
   */
  again(isPlaced: boolean, ownId: () => string): object[] {
    const frames: object[] = []
    const subscription = this.#subscription
    this.reading = undefined
    if (subscription !== undefined) {
      const { frame, cursor } = subscription
      const id = this.#unanswered.has(frame.id) ? frame.id : (this.reading = ownId())
      frames.push({ ...frame, id, fromSeq: cursor + 1 })
    }
    if (isPlaced && this.#last !== undefined && !this.#unanswered.has(this.#last.id)) frames.push({ ...this.#last })
    for (const command of this.#unanswered.values())
      if (command.type !== 'agent.subscribe') frames.push(command)
      else if (command.id !== subscription?.frame.id) frames.push(command)
    return frames
  }

  /** Gives up commands that are not answered and returns their ids. A subscription that was answered continues once it can. */
  giveUp(): string[] {
    const ids = [...this.#unanswered.keys()]
    if (ids.includes(this.#subscription?.frame.id ?? '')) this.#subscription = undefined
    this.#unanswered.clear()
    this.failures += 1
    this.refusals = 0
    this.failingSince = undefined
    return ids
  }
}
