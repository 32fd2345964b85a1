import { acp } from '../../../../src/acp.ts'
import { agUi } from '../../../../src/agUi.ts'
import { stately } from '../../../../src/stately.ts'
import { aiSdkChat } from '../../../../src/aiSdk.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import { Agent } from '../../../../src/runtime/agents/agent.ts'
import { openGate, type Gate } from '../../../../test/support/gate.ts'
import { nextTurn } from '../../../../test/support/runCase.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { serveGateway } from '../../../cluster/src/serveGateway.ts'
import { simulatedClock, type SimulatedClock } from '../../../evaluation/src/testing/simulatedClock.ts'
import { mcpServer } from '../../../mcp/src/server/mcpServer.ts'
import { createRuntime, type Runtime } from '../../src/createRuntime.ts'
import type { Grant } from '../../src/server/roles.ts'
import { lastingStore } from '../server/bridgeHarness.ts'

/** Steps on the way of what a client says, each of which can be held. */
export const steps = ['who it is', 'where it is', 'reading', 'lock', 'writing', 'model'] as const
export type Step = (typeof steps)[number]

/** Words that are said to the agent `a`, which is at rest. */
export const words = 'said meanwhile'
export const pingMs = 1_000

export interface HeldWorld {
  readonly gates: Readonly<Record<Step, Gate>>
  readonly clock: SimulatedClock
  readonly runtime: Runtime
  readonly port: number
  /** Records of the agent before anything is said. */
  readonly known: number
  /** Begins another agent. */
  spawn(): Promise<Agent>
  /** The application no longer lets anybody in. */
  turnAway(): void
  closeServer(): Promise<void>
  /** Begins to close the server, which then waits for its clients. */
  beginToClose(): Promise<void>
  /** Those who listen to agents. */
  listening(): number
  connections(): number
  /** How often a model was asked. */
  asked(): number
  /** How often the words stand in the log, and how each of its runs ended. */
  became(): Promise<{ readonly said: number; readonly ends: readonly string[] }>
  /** Resolves once what is under way has come as far as it can. */
  settle(): Promise<void>
}

/** Counts who listens to agents, until the case is over. */
function countListeners(cleanup: CaseContext['cleanup']): () => number {
  let listening = 0
  const { prototype } = Agent
  const { subscribe, inspect } = prototype
  const counted = <A extends unknown[]>(listen: (this: Agent, ...given: A) => () => void) =>
    function (this: Agent, ...given: A): () => void {
      const end = listen.apply(this, given)
      let hasEnded = false
      listening += 1
      return () => {
        if (!hasEnded) listening -= 1
        hasEnded = true
        end()
      }
    }
  Object.assign(prototype, { subscribe: counted(subscribe as never), inspect: counted(inspect) })
  cleanup(() => void Object.assign(prototype, { subscribe, inspect }))
  return () => listening
}

/** A store whose steps can be held, as far as they are about the agent `a`. */
function heldStore(inner: Store, gates: HeldWorld['gates']): Store {
  const at = async (step: Step, agentId: string): Promise<void> => (agentId === 'a' ? gates[step].pass() : undefined)
  return {
    ...inner,
    append: async (agentId, records) => {
      await at('writing', agentId)
      await inner.append(agentId, records)
    },
    async *read(...range) {
      await at('reading', range[0])
      yield* inner.read(...range)
    },
    open: async (agentId) => {
      await at('lock', agentId)
      return await inner.open(agentId)
    },
  }
}

const read = async (store: Store, agentId: string): Promise<LogRecord[]> => {
  const records: LogRecord[] = []
  for await (const record of store.read(agentId)) records.push(record)
  return records
}

/** A server with every door, or the gateway before it, and an agent at rest. */
export async function heldWorld(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  { isBehindGateway }: { readonly isBehindGateway: boolean },
): Promise<HeldWorld> {
  const gates = Object.fromEntries(steps.map((step) => [step, openGate()])) as HeldWorld['gates']
  let asked = 0
  const teller = defineAgent({
    name: 'teller',
    model: policyModel(async () => {
      asked += 1
      await gates.model.pass()
      return 'told'
    }),
  })
  const inner = lastingStore()
  const before = await createRuntime({ store: inner })
  await (await before.spawn(teller, { id: 'a' })).prompt('earlier').result
  await before.close()
  const known = (await read(inner, 'a')).length
  asked = 0

  const clock = simulatedClock()
  const listening = countListeners(cleanup)
  const store = heldStore(inner, gates)
  const runtime = await createRuntime({ store, clock })
  cleanup(() => runtime.close().catch(() => {}))
  let isLetIn = true
  const authenticate = async (): Promise<Grant | null> => {
    await gates['who it is'].pass()
    return isLetIn ? { role: 'admin', owner: 'somebody' } : null
  }
  const limits = { drainMs: 50, pingMs, connections: 100 }
  const endpoints = [agUi(), aiSdkChat(), acp(), mcpServer(runtime, [teller]).endpoint(), stately()]
  const secret = 'a secret of workers and gateways, long enough'
  const server = await runtime.serve({
    definitions: [teller],
    endpoints,
    limits,
    authenticate: isBehindGateway ? () => null : authenticate,
    ...(isBehindGateway ? { gatewaySecret: secret } : {}),
  })
  const { url } = server
  const gateway = isBehindGateway
    ? await serveGateway({
        directory: async () => {
          await gates['where it is'].pass()
          return { url }
        },
        workers: async () => [url],
        store,
        secret,
        clock,
        authenticate,
        limits,
        endpoints: endpoints.map(({ path }) => path),
      })
    : undefined
  const front = gateway ?? server
  const closeServer = async (): Promise<void> => {
    const closed = front.close()
    for (let times = 0; times < 5; times += 1) await clock.advance(limits.drainMs)
    await closed
  }
  cleanup(async () => {
    for (const gate of Object.values(gates)) gate.open()
    await closeServer()
  })
  return {
    gates,
    clock,
    runtime,
    port: front.port,
    known,
    listening,
    spawn: () => runtime.spawn(teller, { id: 'b' }),
    asked: () => asked,
    connections: () => front.connections,
    turnAway: () => (isLetIn = false),
    closeServer,
    beginToClose: () => front.close(),
    async became() {
      const records = (await read(inner, 'a')).slice(known)
      const said = records.filter(
        (record) => record.type === 'message.added' && JSON.stringify(record.message).includes(words),
      )
      const ends = records.flatMap((record) => (record.type === 'run.end' ? [record.stopReason] : []))
      return { said: said.length, ends }
    },
    async settle() {
      for (let times = 0; times < 3; times += 1) {
        // As long as it takes for something to go to the server and back.
        await fetch(`http://127.0.0.1:${front.port}/healthz`, { headers: { connection: 'close' } })
          .then((answer) => answer.text())
          .catch(() => {})
        for (let turn = 0; turn < 10; turn += 1) await nextTurn()
      }
    },
  }
}
