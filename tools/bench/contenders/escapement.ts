import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import type * as Escapement from '../../../src/index.ts'
import type { Agent, AgentDefinition, LogRecord, Model, ModelPart, Tool } from '../../../src/index.ts'
import type { ErasableStore } from '../../../src/stores.ts'
import {
  pastText,
  type Contender,
  type Host,
  type HostOptions,
  type Session,
  type SessionOptions,
} from '../peers/contender.ts'
import { answer, endsBurst, goesOn, never, textOf, tick, word, type AgentSpec, type ToolSpec } from '../peers/script.ts'

/** The build that is measured; `ESCAPEMENT_ENTRY` names another, or the source. */
const entry = process.env['ESCAPEMENT_ENTRY'] ?? join(import.meta.dirname, '..', '..', '..', 'dist', 'index.js')

export const escapement: Contender = escapementFrom(entry)

/** Another build of escapement, by the path of its entry. */
export function escapementFrom(path: string): Contender {
  return {
    async open(options = {}) {
      return openHost((await import(pathToFileURL(path).href)) as typeof Escapement, options)
    },
  }
}

async function openHost(library: typeof Escapement, { durability }: HostOptions): Promise<Host> {
  const folder = durability === undefined ? undefined : await mkdtemp(join(tmpdir(), 'escapement-peers-'))
  const store =
    folder === undefined || durability === undefined ? library.memoryStore() : library.fileStore(folder, { durability })
  const runtime = await library.createRuntime({ store })
  let agents: Agent[] = []

  async function create(definition: AgentDefinition, { onDelta, history = 0 }: SessionOptions): Promise<Session> {
    const agent = await (history === 0
      ? runtime.spawn(definition)
      : runtime.resume(await past(store, definition, history), definition))
    agents.push(agent)
    if (onDelta !== undefined)
      agent.subscribe(
        (event) => {
          if (event.type === 'reply.delta') onDelta()
        },
        { descendants: true },
      )
    return {
      async prompt(text) {
        const { stopReason, turns, error } = await agent.prompt(text).result
        if (stopReason === 'stop') return { how: 'done', turns }
        if (stopReason === 'aborted') return { how: 'aborted', turns }
        throw new Error(`The run ended with ${stopReason}: ${JSON.stringify(error)}`)
      },
      abort: () => agent.abort(),
      messages: () => agent.conversation.trunk().length,
    }
  }

  return {
    define(spec) {
      const definition = definitionOf(library, spec)
      return { create: (options = {}) => create(definition, options) }
    },
    async release() {
      const ended = agents
      agents = []
      await Promise.all(ended.map((agent) => agent.stop()))
      // Those of sub-agents too.
      for (const agentId of await store.list()) await store.delete(agentId)
    },
    async close() {
      await runtime.close()
      if (folder !== undefined) await rm(folder, { recursive: true })
    },
  }
}

function definitionOf(library: typeof Escapement, spec: AgentSpec): AgentDefinition {
  const agents = spec.agents?.map((agent) => definitionOf(library, agent)) ?? []
  return library.defineAgent({
    name: spec.name,
    model: modelOf(spec),
    tools: spec.tools.map((tool) => toolOf(library, tool)),
    ...(agents.length === 0 ? {} : { agents, maxChildren: 100, maxDepth: 50 }),
  })
}

const toolOf = (library: typeof Escapement, { name, run }: ToolSpec): Tool =>
  library.defineTool({ name, description: 'Takes a number.', input: z.object({ n: z.number() }), run })

const usage = { input: 100, output: 20, cacheRead: 0, cacheWrite: 0 }
const delta: ModelPart = { type: 'text.delta', text: word }

function modelOf(spec: AgentSpec): Model {
  return {
    id: 'mock:model',
    async *stream({ messages }, { signal }) {
      const last = messages.at(-1)!
      const reply = answer(spec, last.role === 'toolResult' ? last.callId : undefined)
      if (reply.hang === 'model') await never()
      while (goesOn(reply, signal)) {
        yield delta
        await tick()
      }
      const { deltas, calls } = reply
      for (let index = 0; index < deltas; index += 1) {
        yield delta
        if (endsBurst(index)) await tick()
      }
      yield {
        type: 'done',
        reply: {
          content: [
            { type: 'text', text: textOf(deltas) },
            ...calls.map((call) => ({ type: 'toolCall' as const, ...call })),
          ],
          stopReason: calls.length === 0 ? 'stop' : 'toolUse',
          usage,
        },
      }
    },
  }
}

let pasts = 0

/** Puts a log with so many messages into the store, as an agent that was closed has left it; gives its id. */
async function past(store: ErasableStore, definition: AgentDefinition, history: number): Promise<string> {
  const agentId = `past-${(pasts += 1)}`
  const records: LogRecord[] = []
  const add = (record: object): void => {
    records.push({ v: 3, seq: records.length + 1, time: 1_700_000_000_000, ...record } as LogRecord)
  }
  add({
    type: 'agent.created',
    agentId,
    path: [],
    definition: definition.name,
    model: 'mock:model',
    machine: 'agent@1',
  })
  for (let index = 0; index < history; index += 2) {
    const turnIndex = index / 2
    const at = { runId: `${agentId}/r${turnIndex}`, turnIndex }
    const node = { nodeId: index + 1, parentId: index === 0 ? null : index }
    const text = (which: number): object[] => [{ type: 'text', text: pastText(which) }]
    const request = { cause: 'prompt', requestId: `past-${index}`, limits: {}, model: { id: 'mock:model' } }
    add({ ...at, type: 'run.start', ...request })
    add({ ...at, type: 'message.added', ...node, message: { role: 'user', content: text(index), source: 'prompt' } })
    add({ ...at, type: 'turn.start' })
    const message = { role: 'assistant', content: text(index + 1), stopReason: 'stop', usage, model: 'mock:model' }
    const reply = { nodeId: index + 2, parentId: index + 1, message, costUsd: 0, estimatedTokens: 10 }
    add({ ...at, type: 'reply.end', ...reply })
    add({ ...at, type: 'turn.end', usage, costUsd: 0 })
    add({ ...at, type: 'run.end', stopReason: 'stop', turns: 1, usage, costUsd: 0 })
  }
  const lease = await store.open(agentId)
  await store.append(agentId, records)
  await lease.release()
  return agentId
}
