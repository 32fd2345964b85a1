import { HttpAgent } from '@ag-ui/client'
import { EventType, PROTOCOL_VERSION, type Event, type Message, type RunAgentInput } from '@ag-ui/core'
import { EventSchemas } from '@ag-ui/core/schemas'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { agUi } from '../../../src/agUi.ts'
import type { ModelPart } from '../../../src/protocol/ports/model.ts'
import type { ServeOptions } from '../../bridge/src/server/serveOptions.ts'
import type { RuntimeOptions } from '../../runtime/src/runtimeOptions.ts'
import { serveAgents, type Serving } from '../../bridge/test/server/bridgeHarness.ts'
import type { CaseContext } from '../../../test/support/suite.ts'

export interface FrontEnd extends Serving {
  /** Where runs are asked for. */
  readonly url: string
  /** The official client on a thread. */
  agent(threadId?: string, headers?: Record<string, string>): HttpAgent
  /** Asks as a bare client does. */
  post(input: unknown, init?: RequestInit): Promise<Response>
}

/** A server that front ends talk AG-UI with; everything is closed after the case. */
export async function serveFrontEnds(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  definitions: readonly AgentDefinition[],
  options: Omit<ServeOptions, 'definitions'> & { readonly runtime?: RuntimeOptions } & Parameters<typeof agUi>[0] = {},
): Promise<FrontEnd> {
  const { definition, abortOnLeave = false, ...serve } = options
  const endpoints = [agUi(definition === undefined ? { abortOnLeave } : { definition, abortOnLeave })]
  const serving = await serveAgents({ cleanup }, definitions, { endpoints, ...serve })
  cleanup(() => serving.server.close())
  const url = `http://127.0.0.1:${serving.server.port}/ag-ui`
  return {
    ...serving,
    url,
    agent: (threadId = 'thread', headers = {}) => new HttpAgent({ url, threadId, headers }),
    post: (input, init = {}) =>
      fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof input === 'string' ? input : JSON.stringify(input),
        ...init,
      }),
  }
}

/** Input of a client with everything it must not leave out. */
export const inputOf = (over: Partial<RunAgentInput> = {}): RunAgentInput => ({
  threadId: 'thread',
  runId: 'r1',
  messages: [{ id: 'm1', role: 'user', content: 'hello' }],
  tools: [],
  context: [],
  protocolVersion: PROTOCOL_VERSION,
  ...over,
})

let spoken = 0

/** Says something with the official client and gives every event, each checked by the schemas and all by the verifier. */
export async function say(
  agent: HttpAgent,
  text: string | undefined,
  parameters: Parameters<HttpAgent['runAgent']>[0] = {},
): Promise<Event[]> {
  if (text !== undefined) agent.addMessage({ id: `said-${++spoken}`, role: 'user', content: text })
  const events: Event[] = []
  await agent.runAgent(parameters, { onEvent: ({ event }) => void events.push(event as Event) })
  for (const event of events) EventSchemas.parse(event)
  return events
}

/** Reads server-sent events until the answer ends; each is checked by the schemas, and all by the official verifier. */
export async function readEvents(response: Response): Promise<Event[]> {
  const text = await response.text()
  const events = text
    .split('\n\n')
    .filter((part) => part.startsWith('data: '))
    .map((part) => EventSchemas.parse(JSON.parse(part.slice(6))) as Event)
  await verified(events)
  return events
}

/** Rejects when the official client refuses the sequence; gives the client, with what it made of it. */
export async function verified(events: readonly Event[], initialMessages: Message[] = []): Promise<HttpAgent> {
  const body = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')
  const headers = { 'content-type': 'text/event-stream' }
  const agent = new HttpAgent({
    url: 'http://nowhere',
    initialMessages,
    fetch: async () => new Response(body, { headers }),
  })
  const heard: unknown[] = []
  await agent.runAgent({}, { onEvent: ({ event }) => void heard.push(event) })
  if (heard.length < events.length) throw new Error(`The client took ${heard.length} of ${events.length} events.`)
  return agent
}

/** Reads server-sent events as they come. */
export class Stream {
  readonly events: Event[] = []
  readonly comments: string[] = []
  readonly ended: Promise<void>
  readonly #looks = new Set<() => void>()

  constructor(response: Response) {
    this.ended = this.#read(response).catch(() => {})
  }

  async #read(response: Response): Promise<void> {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const parts = text.split('\n\n')
      text = parts.pop()!
      for (const part of parts) {
        if (part.startsWith(':')) this.comments.push(part)
        else this.events.push(EventSchemas.parse(JSON.parse(part.slice(6))) as Event)
      }
      for (const look of this.#looks) look()
    }
  }

  /** Resolves once what has come so far fits. */
  until(fits: (stream: this) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (!fits(this)) return
        this.#looks.delete(look)
        resolve()
      }
      this.#looks.add(look)
      look()
    })
  }
}

/** A reply that goes on when it is told to. */
export function heldReply(
  before: readonly ModelPart[],
  text: string,
): { parts: AsyncIterable<ModelPart>; release(): void } {
  const gate = Promise.withResolvers<void>()
  const content = [{ type: 'text' as const, text }]
  return {
    release: () => gate.resolve(),
    parts: (async function* () {
      yield* before
      await gate.promise
      const told = before.map((part) => (part.type === 'text.delta' ? part.text : '')).join('')
      yield { type: 'text.delta', text: text.slice(told.length) }
      yield { type: 'done', reply: { content, stopReason: 'stop', usage: someUsage } }
    })(),
  }
}

/** A reply of many pieces, each handed over in a tick of its own. */
export function longReply(piece: string, count: number): { parts: AsyncIterable<ModelPart> } {
  const content = [{ type: 'text' as const, text: piece.repeat(count) }]
  return {
    parts: (async function* () {
      for (let index = 0; index < count; index += 1) {
        await new Promise((resolve) => setImmediate(resolve))
        yield delta(piece)
      }
      yield { type: 'done', reply: { content, stopReason: 'stop', usage: someUsage } }
    })(),
  }
}

export const someUsage = { input: 3, output: 2, cacheRead: 1, cacheWrite: 0 }

export const delta = (text: string): ModelPart => ({ type: 'text.delta', text })

export const hears = (text: string) => (stream: Stream) =>
  ofType(stream.events, EventType.TEXT_MESSAGE_CONTENT).some((event) => event.delta.includes(text))

export const typesOf = (events: readonly Event[]): string[] => events.map(({ type }) => type)

/** Those of one type, in order. */
export const ofType = <T extends Event['type']>(events: readonly Event[], type: T): Extract<Event, { type: T }>[] =>
  events.filter((event): event is Extract<Event, { type: T }> => event.type === type)

/** Names and values of custom events. */
export const customs = (events: readonly Event[], name: string): unknown[] =>
  events.flatMap((event) =>
    event.type === EventType.CUSTOM && event.name === `escapement.${name}` ? [event.value as unknown] : [],
  )
