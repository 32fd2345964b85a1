import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type {
  AgentCommand,
  DecideOptions,
  Decision,
  RevertCommandOptions,
} from '../../../../src/protocol/bridge/commands.ts'
import { checkCommand } from '../../../../src/protocol/bridge/checkCommand.ts'
import { toErrorInfo } from '../../../../src/protocol/errors.ts'
import { concernsPeople, type AgentEvent } from '../../../../src/protocol/events.ts'
import { noUsage } from '../../../../src/protocol/messages.ts'
import { decided, given } from '../../../../src/protocol/bridge/commandRules.ts'
import { EventBuffer } from '../../../../src/protocol/runs/eventBuffer.ts'
import { type Run, resultOf } from '../../../../src/protocol/runs/run.ts'
import type { RunResult } from '../../../../src/protocol/runs/runResult.ts'
import type { Dispatch, UnloggedEnd } from './dispatch.ts'
import type { DrivenAgent, DrivenBelow } from './drivenAgent.ts'
import { FollowedRun } from './followedRun.ts'
import type { FollowedLog } from './followedLog.ts'
import type { FollowedTree } from './followedTree.ts'

interface Parts {
  readonly tree: FollowedTree
  readonly dispatch: Dispatch
  /** Returns the definition with a name, if this server has it. */
  definition(name: string): AgentDefinition | undefined
  newId(): string
}

const beginsRun: ReadonlySet<string> = new Set(['agent.prompt', 'agent.interrupt', 'agent.resume'])
/** Commands whose request is in the log after they were accepted, unless they wait for an earlier run. */
const isRecorded: ReadonlySet<string> = new Set([...beginsRun, 'agent.steer', 'agent.followUp'])

/** Maximum number of request ids that are remembered, so that two commands never have the same one. */
const mostIds = 1_000

/**
 * An agent that an engine places: commands go to the engine (`dispatch`), and the agent is followed by its log.
 * Errors that a local agent would throw become known later, from `taken` or the result of the run.
 */
export class PlacedAgent implements DrivenAgent {
  readonly isPlaced = true
  readonly id: string
  readonly parent = undefined
  readonly incognito = false
  readonly #parts: Parts
  readonly #log: FollowedLog
  #order: Promise<unknown> = Promise.resolve()
  /** Commands that were dispatched and are not accepted yet. */
  readonly #untaken = new Set<Promise<unknown>>()
  readonly #ids = new Set<string>()

  constructor(id: string, parts: Parts) {
    this.id = id
    this.#parts = parts
    this.#log = parts.tree.root
  }

  get definition(): string {
    return this.#log.created?.definition ?? ''
  }

  get path(): readonly string[] {
    return this.#log.path
  }

  get state(): string {
    return this.#log.state
  }

  get pause(): DrivenAgent['pause'] {
    return this.#log.pause
  }

  get lastSeq(): number {
    return this.#log.lastSeq
  }

  get spent(): DrivenAgent['spent'] {
    return this.#log.spent
  }

  get conversation(): DrivenAgent['conversation'] {
    return this.#log.conversation
  }

  get growingReply(): DrivenAgent['growingReply'] {
    return this.#log.growing
  }

  get clientTools(): readonly string[] {
    return this.#parts.definition(this.definition)?.policy.external ?? []
  }

  /** Returns `undefined`, because everything known about the agent is in the store. */
  durable(): undefined {
    return undefined
  }

  /** Reads the agent's current records from the store. Rejects as the store does. */
  wake(): Promise<void> {
    return this.#parts.tree.catchUp()
  }

  async wasAsked(requestId: string): Promise<boolean> {
    await this.wake()
    return this.#log.has(requestId)
  }

  pending(): ReturnType<DrivenAgent['pending']> {
    return this.#log.pending()
  }

  approvals(): ReturnType<DrivenAgent['approvals']> {
    return this.pending().flatMap(({ kind, agentId, callId, key, name, input }) =>
      kind === 'approval' ? [{ agentId, callId, key, name, input }] : [],
    )
  }

  tree(): ReturnType<DrivenAgent['tree']> {
    return this.#log.tree()
  }

  children(): DrivenBelow[] {
    return belowOf(this.#log)
  }

  subscribe(listener: (event: AgentEvent) => unknown, options?: { readonly descendants?: boolean }): () => void {
    return this.#parts.tree.subscribe(listener, options)
  }

  events(): AsyncIterableIterator<AgentEvent> {
    const buffer: EventBuffer = new EventBuffer(() => unsubscribe())
    const unsubscribe = this.subscribe((event) => buffer.push(event))
    return buffer
  }

  decide(callId: string, decision: Decision, how?: string | DecideOptions): void {
    this.dispatch({ type: 'agent.decide', agentId: this.id, callId, ...decided(decision, how) } as AgentCommand)
  }

  revert(step: string, options: RevertCommandOptions): void {
    this.dispatch({ type: 'agent.revert', agentId: this.id, step, ...given(options) } as AgentCommand)
  }

  abort(): void {
    this.dispatch({ type: 'agent.abort', agentId: this.id })
  }

  /** Aborts the current run. The agent stays loaded: clients do not decide where it is loaded. */
  async close(): Promise<void> {
    this.abort()
    await this.taken()
  }

  dispatch(
    command: AgentCommand,
    { requestId = this.#parts.newId() }: { readonly requestId?: string } = {},
  ): Pick<Run, 'requestId' | 'result'> | undefined {
    const checked = checkCommand(command)
    const id = this.#idFor(requestId, checked.type === 'agent.decide' ? checked.callId : checked.type)
    // One that an engine queues behind another run is in no log before that is over.
    const waitsForLog = isRecorded.has(checked.type) && !(checked.type === 'agent.prompt' && this.#log.isInRun)
    const sent = this.#order.then(() => this.#parts.dispatch.command(checked, id))
    const run = beginsRun.has(checked.type) ? this.#follow(id, sent) : undefined
    const taken =
      checked.type === 'agent.decide'
        ? this.#decided(id, sent)
        : sent.then(({ ended }) => (waitsForLog ? this.#recorded(id, ended) : undefined))
    this.#order = Promise.race([sent, taken]).catch(() => {})
    this.#untaken.add(taken)
    const settled = (): void => void this.#untaken.delete(taken)
    taken.then(settled, settled)
    return run
  }

  async taken(): Promise<void> {
    await Promise.all(this.#untaken)
    await this.wake()
  }

  /** Returns an id for a request to the engine, which carries out each id only once. */
  #idFor(requestId: string, what: string): string {
    const id = this.#ids.has(requestId) ? `${requestId}/${what}` : requestId
    this.#ids.add(id)
    if (this.#ids.size > mostIds) this.#ids.delete(this.#ids.values().next().value!)
    return id
  }

  /** Resolves once one of the logs has the decision. Rejects if it was refused. */
  async #decided(requestId: string, sent: Promise<unknown>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const unsubscribe = this.subscribe((event) => {
      const by = event.type === 'tool.end' ? event.returned : event
      if (concernsPeople(event) && by !== undefined && 'requestId' in by && by.requestId === requestId) resolve()
    })
    try {
      await Promise.race([sent.then(() => this.wake()), promise])
    } finally {
      unsubscribe()
    }
  }

  /** Resolves once the log has the request, or the engine reports its end. */
  async #recorded(requestId: string, ended: Promise<unknown> | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = (): void => {
      if (this.#log.has(requestId)) resolve()
    }
    const unsubscribe = this.subscribe(look)
    void ended?.then(() => resolve())
    try {
      await this.wake()
      look()
      await promise
    } finally {
      unsubscribe()
    }
  }

  /** Returns the run of a request. The run begins when its turn comes. */
  #follow(requestId: string, sent: ReturnType<Dispatch['command']>): Pick<Run, 'requestId' | 'result'> {
    const { promise, resolve } = Promise.withResolvers<RunResult>()
    const followed = new FollowedRun(requestId, this)
    const unsubscribe = this.subscribe((event) => {
      if (event.agentId !== this.id) return
      followed.take(event)
      const result = followed.isOver
        ? followed.result(this.#parts.definition(this.definition)?.output ?? null)
        : undefined
      if (result !== undefined) resolve(result)
    })
    const failed = ({ stopReason, error }: UnloggedEnd): void =>
      resolve(
        resultOf({ text: '', runId: '', turns: 0, childTurns: 0, usage: noUsage, costUsd: 0 }, stopReason, { error }),
      )
    void sent
      .then(async ({ ended }) => {
        const how = await ended
        if (how === undefined) return
        // Its log may say more of it.
        await this.wake().catch(() => {})
        failed(how)
      })
      .catch((thrown: unknown) => failed({ stopReason: 'error', error: toErrorInfo(thrown, 'INTERNAL') }))
    void promise.then(unsubscribe)
    return { requestId, result: promise }
  }
}

const belowOf = (log: FollowedLog): DrivenBelow[] =>
  [...log.below.values()].map(({ log: child }) => ({
    id: child.agentId,
    lastSeq: child.lastSeq,
    durable: () => undefined,
    children: () => belowOf(child),
  }))
