import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import type { Client } from '../../src/client/client.ts'
import { connect } from '../../src/client/connect.ts'
import type { ConnectOptions } from '../../src/client/connectOptions.ts'
import { isLogged, type AgentEvent } from '../../../../src/protocol/events.ts'
import { serverFrames, type ServerFrame } from '../../../wire/src/frames.ts'
import { bridgeProtocol } from '../../../wire/src/bridgeProtocol.ts'
import type { ErasableStore, Store } from '../../../../src/protocol/ports/store.ts'
import type { BridgeServer, ServeOptions } from '../../src/server/serveOptions.ts'
import { createRuntime, type Runtime } from '../../src/createRuntime.ts'
import type { RuntimeOptions } from '../../../runtime/src/runtimeOptions.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { tool } from '../../../../test/support/agentHarness.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'

type Context = Pick<CaseContext, 'cleanup'>

export interface Serving {
  readonly runtime: Runtime
  readonly server: BridgeServer
  readonly store: Store
  /** A client that is closed after the case. */
  connect(options?: ConnectOptions, url?: string): Client
  /** A bare socket that has said nothing yet, or `hello`. */
  dial(options?: { readonly hello?: object; readonly headers?: Record<string, string> }): Promise<Bare>
}

/** A runtime behind a real socket; everything is closed after the case. */
export async function serveAgents(
  { cleanup }: Context,
  definitions: readonly AgentDefinition[],
  options: Omit<ServeOptions, 'definitions'> & { readonly runtime?: RuntimeOptions } = {},
): Promise<Serving> {
  const { runtime: runtimeOptions = {}, ...serveOptions } = options
  const store = runtimeOptions.store ?? memoryStore()
  const runtime = await createRuntime({ ...runtimeOptions, store })
  cleanup(() => runtime.close().catch(() => {}))
  const server = await runtime.serve({ definitions, limits: { drainMs: 50 }, ...serveOptions })
  return {
    runtime,
    server,
    store,
    connect(clientOptions = {}, url = server.url) {
      const client = connect(url, { retry: { baseMs: 1, maxMs: 20 }, ...clientOptions })
      cleanup(() => client.close())
      return client
    },
    async dial({ hello, headers = {} } = {}) {
      const bare = await dial(server.url, headers)
      cleanup(() => bare.socket.terminate())
      if (hello !== undefined) bare.send({ type: 'hello', ...hello })
      return bare
    },
  }
}

/** A store in memory that outlives its runtime: what the next server finds. */
export const lastingStore = (): ErasableStore => ({ ...memoryStore(), close: async () => {} })

/** An agent whose one call waits for approval, and one that calls it as its sub-agent. */
export function approving(): { readonly worker: AgentDefinition; readonly boss: AgentDefinition } {
  const worker = defineAgent({
    name: 'worker',
    description: 'works',
    tools: [tool('look', () => 'seen', { needsApproval: true })],
    model: policyModel(({ messages }) =>
      messages.length === 1 ? { toolCalls: [{ name: 'look', input: {} }] } : 'done',
    ),
  })
  const boss = defineAgent({
    name: 'boss',
    agents: [worker],
    model: policyModel(({ messages }) =>
      messages.length === 1 ? { toolCalls: [{ name: 'worker', input: { task: 'x' } }] } : 'fine',
    ),
  })
  return { worker, boss }
}

/** A socket without our client around it. */
export interface Bare {
  readonly socket: WebSocket
  /** Every frame so far. */
  readonly frames: readonly ServerFrame[]
  send(frame: object | string | Uint8Array): void
  /** Resolves with the first frame, past or to come, that fits. */
  until(fits: (frame: ServerFrame) => boolean): Promise<ServerFrame>
  /** Sends a command and resolves with its answer. */
  ask(frame: object): Promise<Extract<ServerFrame, { type: 'ok' | 'error' }>>
  /** Resolves with code and reason of its close. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>
}

export async function dial(url: string, headers: Record<string, string> = {}): Promise<Bare> {
  const socket = new WebSocket(url, bridgeProtocol, { headers })
  const frames: ServerFrame[] = []
  const looks = new Set<() => void>()
  let last = 0
  socket.on('message', (data) => {
    const value: unknown = JSON.parse((data as Buffer).toString())
    for (const frame of Array.isArray(value) ? value : [value]) frames.push(serverFrames.schema().parse(frame))
    for (const look of looks) look()
  })
  const closed = new Promise<{ code: number; reason: string }>((resolve) =>
    socket.on('close', (code, reason) => resolve({ code, reason: reason.toString() })),
  )
  await once(socket, 'open')
  socket.on('error', () => {})
  const until = (fits: (frame: ServerFrame) => boolean): Promise<ServerFrame> =>
    new Promise((resolve) => {
      const look = (): void => {
        const found = frames.find(fits)
        if (found === undefined) return
        looks.delete(look)
        resolve(found)
      }
      looks.add(look)
      look()
    })
  const send = (frame: object | string | Uint8Array): void =>
    socket.send(typeof frame === 'string' || frame instanceof Uint8Array ? frame : JSON.stringify(frame))
  return {
    socket,
    frames,
    closed,
    send,
    until,
    async ask(frame) {
      const id = `x${++last}`
      send({ ...frame, id })
      return (await until((answer) => 'id' in answer && answer.id === id)) as Extract<
        ServerFrame,
        { type: 'ok' | 'error' }
      >
    },
  }
}

/** Collects events; resolves once one fits. */
export class Heard {
  readonly events: AgentEvent[] = []
  readonly #looks = new Set<() => void>()
  readonly listen = (event: AgentEvent): void => {
    this.events.push(event)
    for (const look of this.#looks) look()
  }

  until(fits: (event: AgentEvent) => boolean): Promise<AgentEvent> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.events.find(fits)
        if (found === undefined) return
        this.#looks.delete(look)
        resolve(found)
      }
      this.#looks.add(look)
      look()
    })
  }

  /** Events in the log. */
  get logged(): AgentEvent[] {
    return this.events.filter(isLogged)
  }
}

/** Has a new agent work until a call waits for a decision. */
export async function untilApproval({ runtime }: Serving, definition: AgentDefinition, id: string) {
  const agent = await runtime.spawn(definition, { id })
  const heard = new Heard()
  agent.subscribe(heard.listen)
  const run = agent.prompt('go')
  await heard.until(({ type }) => type === 'approval.requested')
  return { run, call: agent.approvals()[0]! }
}

/** Resolves once a client has a status. */
export const untilStatus = (client: Client, status: Client['status']): Promise<void> =>
  new Promise((resolve) => {
    if (client.status === status) return resolve()
    const forget = client.onStatus((next) => {
      if (next !== status) return
      forget()
      resolve()
    })
  })

/** The log of an agent as events. */
export async function logOf(store: Store, agentId: string): Promise<object[]> {
  const records: object[] = []
  for await (const record of store.read(agentId)) records.push({ ...record, agentId, path: [] })
  return records
}
