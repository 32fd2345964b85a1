import { nanoid } from 'nanoid'
import { z } from 'zod'
import { isAgentDefinition } from '../actors/defineAgent.ts'
import { compactTrunk } from '../actors/compactTrunk.ts'
import type { AgentDefinition } from '../actors/agentDefinition.ts'
import { drainPrunes } from '../actors/drainPrunes.ts'
import { drainReverts } from '../actors/drainReverts.ts'
import { runTool } from '../actors/runTool.ts'
import { settle } from '../actors/settle.ts'
import { sleep } from '../actors/sleep.ts'
import { streamReply } from '../actors/streamReply.ts'
import { agentMachine } from '../machines/agentMachine.ts'
import type { Clock } from '../protocol/clock.ts'
import { describeIssues, RuntimeError } from '../protocol/errors.ts'
import { agentIdSchema } from '../protocol/ids.ts'
import type { LogRecord, RecordDraft } from '../protocol/records.ts'
import type { Store, StoreLease } from '../protocol/store.ts'
import { Agent, type AgentOwner } from './agent.ts'
import { AgentHost } from './agentHost.ts'
import { memoryStore } from './stores/memoryStore.ts'
import { systemClock } from '../actors/systemClock.ts'

export interface RuntimeOptions {
  /** Where logs live; closed with the runtime. Default: in memory. */
  readonly store?: Store
  /** Default: the system's. */
  readonly clock?: Clock
  /** Numbers from 0 to 1, for the jitter of retries. Default: `Math.random`. */
  readonly random?: () => number
  /** Makes ids of agents and requests. Default: nanoid. */
  readonly newId?: () => string
}

/** Spawns agents and owns what they share. */
export interface Runtime {
  /**
   * Starts an agent of this definition, with a log of its own.
   *
   * @throws RuntimeError `RUNTIME_CLOSED`, `INVALID_ID`, `AGENT_EXISTS` (the id has a log already), `STORE_LOCKED`, `STORE_OPEN_FAILED`
   */
  spawn(definition: AgentDefinition, options?: { id?: string }): Promise<Agent>
  /**
   * Goes on with an agent from its log, after its process ended without `stop`: the conversation, queues, approvals and pauses are
   * as they were. A run that was cut off is continued as a new one (with `continue: false` it stays paused until
   * `agent.resume()`): the model is asked again, and calls in flight are run again or answered as their tools' `effects` say.
   *
   * @throws RuntimeError `AGENT_NOT_FOUND`, `AGENT_STOPPED`, `AGENT_EXISTS` (it runs already), `INVALID_DEFINITION` (of another
   * name), `STORE_LOCKED`, `LOG_CORRUPT`, `LOG_VERSION`
   */
  resume(agentId: string, definition: AgentDefinition, options?: { continue?: boolean }): Promise<Agent>
  /** The agents that run, oldest first. */
  agents(): Agent[]
  agent(id: string): Agent | undefined
  /** Ends every agent so that it can be resumed, writes their logs and closes the store. Idempotent. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const has =
  (...methods: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof Reflect.get(value, name) === 'function')

const runtimeOptionsSchema = z
  .strictObject({
    store: z.custom(has('append', 'read', 'list', 'open', 'close'), 'give a store, such as fileStore(dir)'),
    clock: z.custom(has('now', 'after'), 'give { now, after }'),
    random: z.custom((value) => typeof value === 'function', 'give a function'),
    newId: z.custom((value) => typeof value === 'function', 'give a function'),
  })
  .partial()

const spawnOptionsSchema = z.strictObject({ id: z.string() }).partial()
const resumeOptionsSchema = z.strictObject({ continue: z.boolean() }).partial()

function checkOptions(schema: z.ZodType, options: unknown, verb: string): void {
  const checked = schema.safeParse(options)
  if (!checked.success) throw new RuntimeError('INVALID_OPTION', `${verb}: ${describeIssues(checked.error)}.`)
}

/** Makes a runtime. Close it, or hold it with `await using` where Node has that. */
export async function createRuntime(options: RuntimeOptions = {}): Promise<Runtime> {
  checkOptions(runtimeOptionsSchema, options, 'createRuntime')
  return new LocalRuntime(options)
}

class LocalRuntime implements Runtime {
  readonly #store: Store
  readonly #clock: Clock
  readonly #random: () => number
  readonly #owner: AgentOwner
  readonly #machine: typeof agentMachine
  readonly #hosts = new Map<string, AgentHost>()
  readonly #agents = new Map<string, Agent>()
  #closing: Promise<void> | undefined

  constructor(options: RuntimeOptions) {
    this.#store = options.store ?? memoryStore()
    this.#clock = options.clock ?? systemClock
    this.#random = options.random ?? Math.random
    this.#owner = { newId: options.newId ?? (() => nanoid(12)), release: (agentId) => this.#release(agentId) }
    const find = (agentId: string): AgentHost => this.#hosts.get(agentId)!
    // Once for all agents: every `provide` builds the chart anew.
    this.#machine = agentMachine.provide({
      actors: {
        streamReply: streamReply(find),
        runTool: runTool(find),
        settle: settle(find),
        compactTrunk: compactTrunk(find),
        sleep: sleep(this.#clock),
        drainReverts: drainReverts(find),
        drainPrunes: drainPrunes(find),
      },
      actions: {
        record: ({ context }: { context: { agentId: string } }, record: RecordDraft) =>
          find(context.agentId).record(record),
      },
    })
  }

  async spawn(definition: AgentDefinition, options: { id?: string } = {}): Promise<Agent> {
    checkOptions(spawnOptionsSchema, options, 'spawn')
    const agentId = options.id ?? `${definition?.name}-${this.#owner.newId()}`
    this.#check(agentId, definition, 'spawn')
    const lease = await this.#open(agentId)
    if (lease.lastSeq === 0) return this.#begin(agentId, definition, lease)
    await lease.release()
    const what = `Agent "${agentId}" has a log of ${lease.lastSeq} records in this store: resume it, or`
    throw new RuntimeError('AGENT_EXISTS', `${what} spawn under another id.`)
  }

  async resume(agentId: string, definition: AgentDefinition, options: { continue?: boolean } = {}): Promise<Agent> {
    checkOptions(resumeOptionsSchema, options, 'resume')
    this.#check(agentId, definition, 'resume')
    const lease = await this.#open(agentId)
    try {
      const records = await readWhole(this.#store, agentId)
      checkResumable(agentId, definition, records)
      const agent = this.#begin(agentId, definition, lease, records)
      if (options.continue !== false && agent.pause?.type === 'interrupted') {
        const host = this.#hosts.get(agentId)!
        await host.resume(host.expectRun(this.#owner.newId()), undefined)
      }
      return agent
    } catch (thrown) {
      await lease.release()
      throw thrown
    }
  }

  #check(agentId: string, definition: AgentDefinition, verb: string): void {
    this.#checkOpen()
    if (!isAgentDefinition(definition)) {
      throw new RuntimeError('INVALID_DEFINITION', `${verb} takes what defineAgent returns.`)
    }
    if (!agentIdSchema.safeParse(agentId).success) {
      throw new RuntimeError('INVALID_ID', `${JSON.stringify(agentId)} is no agent id.`)
    }
    if (this.#hosts.has(agentId)) throw new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" is running already.`)
  }

  async #open(agentId: string): Promise<StoreLease> {
    const lease = await this.#store.open(agentId)
    if (this.#closing === undefined) return lease
    await lease.release()
    throw new RuntimeError('RUNTIME_CLOSED', 'The runtime was closed meanwhile.')
  }

  #begin(agentId: string, definition: AgentDefinition, lease: StoreLease, records: readonly LogRecord[] = []): Agent {
    const host = new AgentHost({
      agentId,
      definition,
      lease,
      records,
      machine: this.#machine,
      store: this.#store,
      clock: this.#clock,
      random: this.#random,
    })
    const agent = new Agent(host, this.#owner)
    this.#hosts.set(agentId, host)
    this.#agents.set(agentId, agent)
    host.start()
    return agent
  }

  agents(): Agent[] {
    return [...this.#agents.values()]
  }

  agent(id: string): Agent | undefined {
    return this.#agents.get(id)
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #close(): Promise<void> {
    const stops = await Promise.allSettled(this.agents().map((agent) => agent.close()))
    await this.#store.close()
    const failed = stops.find((stop) => stop.status === 'rejected')
    if (failed !== undefined) throw failed.reason
  }

  async #release(agentId: string): Promise<void> {
    const host = this.#hosts.get(agentId)
    this.#agents.delete(agentId)
    if (host === undefined) return
    try {
      await host.release()
    } finally {
      this.#hosts.delete(agentId)
    }
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new RuntimeError('RUNTIME_CLOSED', 'The runtime is closed.')
  }
}

async function readWhole(store: Store, agentId: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}

function checkResumable(agentId: string, definition: AgentDefinition, records: readonly LogRecord[]): void {
  const [first] = records
  if (first === undefined)
    throw new RuntimeError('AGENT_NOT_FOUND', `There is no log of agent "${agentId}" in this store.`)
  if (records.at(-1)?.type === 'agent.stopped')
    throw new RuntimeError('AGENT_STOPPED', `Agent "${agentId}" was stopped for good.`)
  if (first.type !== 'agent.created')
    throw new RuntimeError('LOG_CORRUPT', `The log of agent "${agentId}" begins with ${first.type}.`)
  if (first.definition === definition.name) return
  const what = `Agent "${agentId}" is of definition "${first.definition}", not "${definition.name}".`
  throw new RuntimeError('INVALID_DEFINITION', what)
}
