import type { AgentDefinition } from '../../src/actors/define/agentDefinition.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import type { Tool } from '../../src/actors/tools/defineTool.ts'
import type { AgentEvent } from '../../src/protocol/events.ts'
import type { Model, ModelRequest } from '../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { tool } from './agentHarness.ts'
import { lateStoreOf } from './lateStore.ts'
import type { CaseContext } from './suite.ts'

/** Calls these tools at once, and answers whatever is said once it has their results. */
export const caller = (names: readonly string[], requests: ModelRequest[] = []): Model =>
  policyModel((request) => {
    requests.push(request)
    return request.messages.some(({ role }) => role === 'toolResult')
      ? 'done'
      : { toolCalls: names.map((name) => ({ name, input: {} })) }
  })

/** A tool that needs approval; it adds its name to `ran` when it runs. */
export const asks = (name: string, ran: string[] = []): Tool =>
  tool(
    name,
    () => {
      ran.push(name)
      return `${name} done`
    },
    { needsApproval: true },
  )

/** The records of one log. */
export async function logOf(store: Store, agentId: string): Promise<LogRecord[]> {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}

/** Resolves with the next event that fits, of the agent or below it. */
export const until = async (agent: Agent, fits: (event: AgentEvent) => boolean): Promise<void> => {
  for await (const event of agent.events({ descendants: true })) if (fits(event)) return
}

/** Resolves once `count` runs have ended after this call. */
export const ends = (agent: Agent, count = 1): Promise<void> => {
  let seen = 0
  return until(agent, (event) => event.type === 'run.end' && event.agentId === agent.id && (seen += 1) === count)
}

/** One life of an agent. */
export interface Life {
  readonly runtime: Runtime
  readonly agent: Agent
  readonly store: Store
  /** Its log, and those of agents below it, as they are now. */
  logs(): Promise<{ [agentId: string]: LogRecord[] }>
}

/** Lives of one agent: each goes on from what is in the store when its process dies, which may be at any time. */
export class Lives {
  readonly clock: SimulatedClock = simulatedClock()
  readonly #context: CaseContext

  constructor(context: CaseContext) {
    this.#context = context
  }

  async begin(definition: AgentDefinition, prompt: string, from?: (runtime: Runtime) => Promise<Agent>): Promise<Life> {
    const store = await lateStoreOf({})
    const runtime = await this.#runtime(store)
    const agent = await (from?.(runtime) ?? runtime.spawn(definition, { id: 'a1' }))
    agent.prompt(prompt)
    return this.#life(runtime, agent, store)
  }

  async resume(
    definition: AgentDefinition,
    logs: { readonly [agentId: string]: readonly LogRecord[] },
    options?: { continue?: boolean },
  ): Promise<Life> {
    const store = await lateStoreOf(logs)
    const runtime = await this.#runtime(store)
    return this.#life(runtime, await runtime.resume('a1', definition, options), store)
  }

  async #runtime(store: Store): Promise<Runtime> {
    const runtime = await createRuntime({ store, clock: this.clock })
    this.#context.cleanup(() => runtime.close())
    return runtime
  }

  #life(runtime: Runtime, agent: Agent, store: Store): Life {
    const logs = async (): Promise<{ [agentId: string]: LogRecord[] }> => {
      const ids = await store.list()
      for (const id of ids) await runtime.agent(id)?.durable()
      return Object.fromEntries(await Promise.all(ids.map(async (id) => [id, await logOf(store, id)] as const)))
    }
    return { runtime, agent, store, logs }
  }
}

/** Types of the records, in order. */
export const types = (records: readonly LogRecord[]): string[] => records.map(({ type }) => type)
/** Resolves once the agent is paused. */
export const paused = async (agent: Agent): Promise<void> => {
  if (agent.state !== 'paused')
    await until(agent, (event) => event.type === 'state.changed' && event.state === 'paused')
}
