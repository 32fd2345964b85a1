import { z } from 'zod'
import { acp } from '../../../../src/acp.ts'
import { agUi } from '../../../../src/agUi.ts'
import { aiSdkChat } from '../../../../src/aiSdk.ts'
import { defineAgent } from '../../../define/src/defineAgent.ts'
import { defineTool } from '../../../../src/actors/tools/defineTool.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { createRuntime, type Runtime } from '../../src/createRuntime.ts'
import type { Pending } from '../../../../src/protocol/runs/pending.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { rightsOf, type Right } from '../../../wire/src/rights.ts'
import { hasMetadata, type Metadata } from '../../../../src/protocol/metadata.ts'
import type { Grant } from '../../src/server/roles.ts'
import { mcpServer } from '../../../mcp/src/server/mcpServer.ts'
import { serveGateway } from '../../../cluster/src/serveGateway.ts'
import { stately } from '../../../../src/stately.ts'
import { memoryStore } from '../../../stores/src/memory/memoryStore.ts'
import { textOf } from '../../../../src/protocol/messages.ts'
import type { CaseContext } from '../../../../test/support/suite.ts'
import { lastingStore } from '../server/bridgeHarness.ts'

/** Texts that are shown only to those who see all. */
export const secrets = [
  'CANARY-instructions',
  'CANARY-description',
  'CANARY-arguments',
  'CANARY-result',
  'CANARY-thinking',
  'CANARY-memory',
  'CANARY-error',
  'CANARY-task',
  'CANARY-answer',
  'CANARY-payment',
] as const

/** Which agents a client reaches, as a token says it. */
export type Reaching = 'all' | 'ids' | 'metadata' | 'function by id' | 'function by metadata'

export interface Client {
  readonly may: readonly Right[]
  readonly reaching: Reaching
  readonly owner?: string
}

/** The token of a client: all that the server is to know of it. */
export const tokenOf = (client: Client): string => Buffer.from(JSON.stringify(client)).toString('base64url')

const mine: Metadata = { tenant: 't1' }
export const own = ['mine', 'asleep'] as const

/** Agents of the world, with what they have noted. */
export const agents = ['mine', 'asleep', 'foreign', 'foreign-asleep', 'hidden'] as const
export type AgentName = (typeof agents)[number]

function grantOf({ may, reaching, owner }: Client): Grant {
  const whose = owner === undefined ? {} : { owner }
  switch (reaching) {
    case 'all':
      return { may, ...whose }
    case 'ids':
      return { may, agents: [...own], ...whose }
    case 'metadata':
      return { may, metadata: mine, ...whose }
    case 'function by id':
      return { may, agents: ({ id }) => own.some((one) => one === id), ...whose }
    case 'function by metadata':
      return { may, agents: ({ metadata }) => hasMetadata(metadata, mine), ...whose }
  }
}

/** Tells if a client may see and drive an agent of the world. */
export const reached = ({ reaching }: Client, agent: AgentName): boolean =>
  agent !== 'hidden' && (reaching === 'all' || own.some((one) => one === agent))

export const mayAll = ({ may }: Client, needs: readonly Right[]): boolean => {
  const rights = rightsOf({ may })
  return needs.every((right) => rights.has(right))
}

const tool = (name: string, run: () => string, more: object = {}) =>
  defineTool({ name, description: 'CANARY-description', input: z.looseObject({}), run, ...more })

/** Models that have been asked: an agent that is woken in the middle of a run asks one. */
let asked = 0

const helper = defineAgent({
  name: 'helper',
  description: 'helps',
  instructions: 'CANARY-instructions',
  model: policyModel(() => ({ text: 'CANARY-answer', thinking: 'CANARY-thinking' })),
})

/** Calls tools that tell secrets, and then waits for people; told to hang, its model never answers. */
const worker = defineAgent({
  name: 'worker',
  description: 'CANARY-purpose',
  instructions: 'CANARY-instructions',
  agents: [helper],
  tools: [
    tool('fetch', () => 'CANARY-result'),
    tool('fail', () => {
      throw new Error('CANARY-error')
    }),
    tool('pay', () => 'paid', { needsApproval: true }),
    defineTool({
      name: 'survey',
      description: 'CANARY-description',
      input: z.looseObject({}),
      run: async (_, context) => String(await context.ask(z.boolean(), 'WORDS-question')),
    }),
    defineTool({ name: 'show', description: 'CANARY-description', input: z.looseObject({}) }),
  ],
  model: policyModel(({ messages }) => {
    asked += 1
    const replies = messages.filter(({ role }) => role === 'assistant').length
    const said = messages.map(({ content }) => textOf(content.filter((block) => block.type === 'text'))).join('\n')
    if (replies === 0)
      return {
        text: 'WORDS-reply',
        thinking: 'CANARY-thinking',
        toolCalls: [
          { name: 'fetch', input: { what: 'CANARY-arguments' } },
          { name: 'fail', input: {} },
          { name: 'helper', input: { task: 'CANARY-task' } },
        ],
      }
    if (said.includes('hang')) return new Promise(() => {})
    return {
      text: 'WORDS-reply',
      toolCalls: [
        { name: 'pay', input: { to: 'CANARY-payment' } },
        { name: 'survey', input: { about: 'CANARY-arguments' } },
        { name: 'show', input: { where: 'CANARY-client' } },
      ],
    }
  }),
})

const metadataOf = (name: AgentName): { metadata: Metadata } => ({
  metadata: name.startsWith('foreign') ? { tenant: 't2' } : mine,
})

async function say(runtime: Runtime, name: AgentName, words: string): Promise<void> {
  const incognito = name === 'hidden'
  const agent = await runtime.spawn(worker, { id: name, ...metadataOf(name), ...(incognito ? { incognito } : {}) })
  const tag = name.startsWith('foreign') ? ' FOREIGN' : incognito ? ' HIDDEN' : ''
  agent.prompt(`WORDS-user${tag} ${words}`, {
    context: [{ content: 'CANARY-memory', provenance: { type: 'memoryTier', tier: 'notes', recordId: 'r1' } }],
  })
  await new Promise<void>((resolve) => {
    const isThere = (): boolean =>
      words === 'hang' ? agent.conversation.log().length > 5 : agent.pending().length === 3
    const end = agent.subscribe(() => {
      if (!isThere()) return
      end()
      resolve()
    })
    if (isThere()) resolve()
  })
}

/** The logs of agents whose process was killed while a model was asked. */
async function leftBehind(names: readonly AgentName[]): Promise<ReadonlyMap<string, LogRecord[]>> {
  const store = memoryStore()
  const runtime = await createRuntime({ store })
  for (const name of names) await say(runtime, name, 'hang')
  const logs = new Map<string, LogRecord[]>()
  for (const id of await store.list()) {
    const records: LogRecord[] = []
    for await (const record of store.read(id)) records.push(record)
    logs.set(id, records)
  }
  await runtime.close()
  return logs
}

export interface Place {
  readonly port: number
}

/** Keys of what waits for people at an agent. */
export type Keys = { readonly [K in Pending['kind']]: string }

export interface World {
  /** Those of an agent of the world, as they are, or would be. */
  keysOf(agent: AgentName): Keys
  readonly server: Place
  readonly gateway: Place
  /** State of everything there is: nothing that is forbidden changes it. */
  state(): Promise<string>
  /** A token that lets look at an agent of the world. */
  link(agent: AgentName): Promise<string>
}

/** A server with every door, a gateway before it, and agents that wait, sleep and are somebody else's. */
export async function openWorld({ cleanup }: Pick<CaseContext, 'cleanup'>): Promise<World> {
  const store = lastingStore()
  for (const [id, records] of await leftBehind(['asleep', 'foreign-asleep'])) {
    const lease = await store.open(id)
    await store.append(id, records)
    await lease.release()
  }
  const runtime = await createRuntime({ store })
  cleanup(() => runtime.close().catch(() => {}))
  for (const name of ['mine', 'foreign', 'hidden'] as const) await say(runtime, name, 'wait')
  const secret = 'a secret of workers and gateways, long enough'
  const authenticate = (_: unknown, token: string | undefined): Grant | null =>
    token === undefined ? null : grantOf(JSON.parse(Buffer.from(token, 'base64url').toString()) as Client)
  const limits = { drainMs: 50, connections: 1_000, framesPerSecond: 10_000 }
  const definitions = [worker]
  const mcp = mcpServer(runtime, definitions)
  const endpoints = [agUi(), aiSdkChat(), acp(), mcp.endpoint(), stately()]
  const server = await runtime.serve({ definitions, authenticate, endpoints, limits, gatewaySecret: secret })
  const { url } = server
  const gateway = await serveGateway({
    directory: async () => ({ url }),
    workers: async () => [url],
    store,
    secret,
    authenticate,
    limits,
    endpoints: ['/ag-ui', '/api/chat', '/acp', '/mcp', '/stately'],
  })
  cleanup(() => gateway.close())
  return {
    server,
    gateway,
    keysOf(agent) {
      const kinds = runtime
        .agent('mine')!
        .pending()
        .map(({ kind, key }) => [kind, key.replace('mine', agent)] as const)
      return Object.fromEntries(kinds) as unknown as Keys
    },
    async state() {
      // What comes of a command a little later.
      for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      const logs = await store.list()
      const running = runtime.agents().map((agent) => [agent.id, agent.lastSeq, agent.state, agent.pending().length])
      return JSON.stringify({ asked, logs, running })
    },
    link: async (agent) => (await server.shareLink(agent, { page: 'http://127.0.0.1/' })).token,
  }
}
