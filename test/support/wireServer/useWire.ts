import { aiSdkModel, type AiSdkModelOptions } from '../../../src/aiSdk.ts'
import type { Block } from '../../../src/protocol/messages.ts'
import type { Model, ModelPart, ModelReply, ModelRequest } from '../../../src/protocol/ports/model.ts'
import { assert, type CaseContext } from '../suite.ts'
import { anthropicWire } from './anthropicWire.ts'
import { openaiWire } from './openaiWire.ts'
import type { WireFamily, WireReply } from './wireFamily.ts'
import { startWireServer, type WireScript, type WireServer } from './wireServer.ts'

export const wireFamilies: readonly WireFamily[] = [anthropicWire, openaiWire]

/** A server with these scripts, and the family's real model connected to it; both go away with the case. */
export async function useWire(
  { cleanup }: CaseContext,
  family: WireFamily,
  scripts: readonly (WireScript | WireReply)[],
  options: AiSdkModelOptions = { cache: false },
): Promise<{ server: WireServer; model: Model }> {
  const server = await startWireServer()
  cleanup(async () => {
    await server.close()
    assert.equal(server.faults, [])
  })
  server.script(...scripts.map((script) => (typeof script === 'function' ? script : whole(family, script))))
  return { server, model: aiSdkModel(family.model(server.url), options) }
}

/** A script that sends a reply from beginning to end. */
export const whole =
  (family: WireFamily, reply: WireReply): WireScript =>
  (exchange) => {
    exchange.send(...family.open(reply), ...family.finish(reply))
    exchange.end()
  }

/** A request with one user message, and whatever else is given. */
export const ask = (text: string, more: Partial<ModelRequest> = {}): ModelRequest => ({
  system: '',
  messages: [{ role: 'user', content: [{ type: 'text', text }] }],
  tools: [],
  settings: {},
  ...more,
})

/** The parts of one call, to be read one by one. */
export const iterate = (model: Model, signal: AbortSignal): AsyncIterator<ModelPart> =>
  model.stream(ask('hi'), { signal })[Symbol.asyncIterator]()

/** All parts of one call. */
export async function partsOf(model: Model, request: ModelRequest, signal: AbortSignal): Promise<ModelPart[]> {
  const parts: ModelPart[] = []
  for await (const part of model.stream(request, { signal })) parts.push(part)
  return parts
}

/** The reply of one call; fails unless the last part is `done` and the only terminal one. */
export async function replyOf(model: Model, request: ModelRequest, signal: AbortSignal): Promise<ModelReply> {
  const parts = await partsOf(model, request, signal)
  assert.is(parts.filter((part) => part.type === 'done' || part.type === 'error').length, 1)
  const last = parts.at(-1)
  if (last?.type !== 'done') assert.unreachable(`the last part is ${JSON.stringify(last)}`)
  return last.reply
}

/** The messages of a follow-up: what was asked, what came back, and what is said next. */
export const followUp = (
  text: string,
  content: readonly Block[],
  ...more: readonly ModelRequest['messages'][number][]
): ModelRequest['messages'] => [...ask(text).messages, { role: 'assistant', content }, ...more]
