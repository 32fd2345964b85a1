import type { Contender, Definition, Ending, Host, Session, SessionOptions } from '../peers/contender.ts'
import { pastText } from '../peers/contender.ts'
import { answer, endsBurst, goesOn, never, textOf, tick, word, type AgentSpec, type Call } from '../peers/script.ts'

type Message =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string; readonly calls: readonly Call[] }
  | { readonly role: 'toolResult'; readonly callId: string; readonly text: string }

type Part =
  | { readonly type: 'delta'; readonly text: string }
  | { readonly type: 'done'; readonly text: string; readonly calls: readonly Call[] }

/** The least a tool loop can be, written by hand: no framework, no events, no log. It asks after its signal between deltas only. */
export const floor: Contender = { open: async () => floorHost }

const floorHost: Host = {
  define: floorDefinition,
  release: async () => {},
  close: async () => {},
}

function floorDefinition(spec: AgentSpec): Definition {
  const tools = new Map(spec.tools.map((tool) => [tool.name, tool]))
  const agents = new Map((spec.agents ?? []).map((agent) => [agent.name, floorDefinition(agent)]))

  async function call({ name, input }: Call, { onDelta }: SessionOptions): Promise<string> {
    const agent = agents.get(name)
    if (agent === undefined) return tools.get(name)!.run(input as { n: number })
    const session = await agent.create(onDelta === undefined ? {} : { onDelta })
    await session.prompt(String(input['task']))
    return 'done'
  }

  return { create: (options = {}) => floorSession(spec, call, options) }
}

function floorSession(
  spec: AgentSpec,
  call: (call: Call, options: SessionOptions) => Promise<string>,
  options: SessionOptions,
): Session {
  const messages: Message[] = Array.from({ length: options.history ?? 0 }, (_, index) =>
    index % 2 === 0 ? { role: 'user', text: pastText(index) } : { role: 'assistant', text: pastText(index), calls: [] },
  )
  let stop = new AbortController()

  async function prompt(text: string): Promise<Ending> {
    const { signal } = (stop = new AbortController())
    messages.push({ role: 'user', text })
    for (let turns = 1; ; turns += 1) {
      let calls: readonly Call[] = []
      for await (const part of stream(spec, messages, signal)) {
        if (part.type === 'delta') options.onDelta?.()
        else {
          calls = part.calls
          messages.push({ role: 'assistant', text: part.text, calls })
        }
      }
      if (signal.aborted) return { how: 'aborted', turns }
      if (calls.length === 0) return { how: 'done', turns }
      const results = await Promise.all(calls.map((each) => call(each, options)))
      for (const [index, { callId }] of calls.entries())
        messages.push({ role: 'toolResult', callId, text: results[index]! })
    }
  }

  return { prompt, abort: () => stop.abort(), messages: () => messages.length }
}

async function* stream(spec: AgentSpec, messages: readonly Message[], signal: AbortSignal): AsyncGenerator<Part> {
  const last = messages.at(-1)!
  const reply = answer(spec, last.role === 'toolResult' ? last.callId : undefined)
  if (reply.hang === 'model') await never()
  while (goesOn(reply, signal)) {
    yield { type: 'delta', text: word }
    await tick()
  }
  const { deltas, calls } = reply
  for (let index = 0; index < deltas; index += 1) {
    yield { type: 'delta', text: word }
    if (endsBurst(index)) await tick()
  }
  yield { type: 'done', text: textOf(deltas), calls }
}
