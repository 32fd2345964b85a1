import { defineAgent } from '../../packages/define/src/defineAgent.ts'
import type { AgentOptions } from '../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { textOf } from '../../src/protocol/messages.ts'
import type { LogRecord } from '../../src/protocol/records.ts'
import type { Store } from '../../src/protocol/ports/store.ts'
import type { Agent } from '../../src/runtime/agents/agent.ts'
import { createRuntime, type Runtime } from '../../packages/bridge/src/createRuntime.ts'
import type { RuntimeOptions } from '../../packages/runtime/src/runtimeOptions.ts'
import { simulatedClock, type SimulatedClock } from '../../packages/evaluation/src/testing/simulatedClock.ts'
import { memoryStore } from '../../packages/stores/src/memory/memoryStore.ts'
import { counter, quiet } from '../support/agentHarness.ts'
import type { CaseContext } from '../support/suite.ts'

/** A store in memory that counts what is opened, and whose doors can be held shut. */
export interface GatedStore extends Store {
  readonly opened: string[]
  /** Leases that are out. */
  readonly leased: ReadonlySet<string>
  /** Promise that each operation waits for; a rejection is what it rejects with. */
  readonly gates: { [G in 'open' | 'append' | 'read' | 'release']?: Promise<unknown> | undefined }
}

/** Makes one that is wide open. */
export function gatedStore(): GatedStore {
  const inner = memoryStore()
  const leased = new Set<string>()
  const store: GatedStore = {
    opened: [],
    leased,
    gates: {},
    async open(agentId) {
      store.opened.push(agentId)
      await store.gates.open
      const lease = await inner.open(agentId)
      leased.add(agentId)
      return {
        agentId,
        repairedBytes: 0,
        get lastSeq() {
          return lease.lastSeq
        },
        async release() {
          await store.gates.release
          leased.delete(agentId)
          await lease.release()
        },
      }
    },
    async append(agentId, records) {
      await store.gates.append
      await inner.append(agentId, records)
    },
    async *read(agentId, fromSeq) {
      await store.gates.read
      yield* inner.read(agentId, fromSeq)
    },
    list: () => inner.list(),
    close: () => inner.close(),
  }
  return store
}

/** After so long an idle agent of these tests is unloaded. */
export const idleMs = 60_000

/** Says how many people's messages it sees, and the last of them. */
export const echo = policyModel(({ messages }) => {
  const said = messages.filter(({ role }) => role === 'user')
  return `${said.length}: ${textOf(said.at(-1)!.content)}`
})

export interface IdleAgents {
  readonly runtime: Runtime
  readonly store: GatedStore
  readonly clock: SimulatedClock
  spawn(id: string, options?: Partial<AgentOptions>): Promise<Agent>
  /** Spawns an agent, prompts it once and lets it be unloaded. */
  unloaded(id: string, options?: Partial<AgentOptions>): Promise<Agent>
  records(id: string): Promise<LogRecord[]>
}

/** A runtime that unloads agents which were idle for `idleMs`. */
export async function idleAgents(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  options: Partial<RuntimeOptions> = {},
): Promise<IdleAgents> {
  const store = gatedStore()
  const clock = simulatedClock()
  const runtime = await createRuntime({ store, clock, newId: counter('q'), idleUnloadMs: idleMs, ...options })
  cleanup(() => runtime.close())
  const spawn: IdleAgents['spawn'] = (id, agentOptions = {}) =>
    runtime.spawn(defineAgent({ name: 'tester', model: echo, ...agentOptions }), { id })
  return {
    runtime,
    store,
    clock,
    spawn,
    async unloaded(id, agentOptions) {
      const agent = await spawn(id, agentOptions)
      await agent.prompt('first').result
      await clock.advance(idleMs)
      await quiet()
      return agent
    },
    async records(id) {
      const records: LogRecord[] = []
      for await (const record of store.read(id)) records.push(record)
      return records
    },
  }
}
