import { Chat } from '@ai-sdk/react'
import {
  DefaultChatTransport,
  isToolUIPart,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type ChatInit,
  type UIMessage,
} from 'ai'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { aiSdkChat, uiMessages } from '../../../src/aiSdk.ts'
import type { ModelPart } from '../../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { Store } from '../../../src/protocol/ports/store.ts'
import type { ServeOptions } from '../../bridge/src/server/serveOptions.ts'
import type { RuntimeOptions } from '../../runtime/src/runtimeOptions.ts'
import { memoryStore } from '../../stores/src/memory/memoryStore.ts'
import { childrenIn } from '../src/uiMessages.ts'
import { assert, type CaseContext } from '../../../test/support/suite.ts'
import { serveAgents, type Serving } from '../../bridge/test/server/bridgeHarness.ts'

export interface ChatServing extends Serving {
  /** Where chats are. */
  readonly api: string
  /** The real client of a chat, as `useChat` holds it. */
  chat(options?: ChatOptions): Chat<UIMessage>
  /** Asks as a bare client does. */
  post(body: unknown, init?: RequestInit): Promise<Response>
  /** Messages of a page that is loaded now. */
  messages(id?: string): Promise<UIMessage[]>
}

export interface ChatOptions extends Partial<ChatInit<UIMessage>> {
  readonly headers?: Record<string, string>
}

/** A server that `useChat` talks with; everything is closed after the case. */
export async function serveChats(
  context: Pick<CaseContext, 'cleanup'>,
  definitions: readonly AgentDefinition[],
  options: Omit<ServeOptions, 'definitions'> & { readonly runtime?: RuntimeOptions } = {},
): Promise<ChatServing> {
  const serving = await serveAgents(context, definitions, { endpoints: [aiSdkChat()], ...options })
  context.cleanup(() => serving.server.close())
  const api = `http://127.0.0.1:${serving.server.port}/api/chat`
  return {
    ...serving,
    api,
    chat({ headers = {}, ...init } = {}) {
      const chat = new Chat<UIMessage>({
        id: 'chat',
        transport: new DefaultChatTransport({ api, headers }),
        sendAutomaticallyWhen: isAnswered,
        ...init,
      })
      context.cleanup(() => chat.stop())
      return chat
    },
    post: (body, init = {}) =>
      fetch(api, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: typeof body === 'string' ? body : JSON.stringify(body),
        ...init,
      }),
    messages: async (id = 'chat') => (await (await fetch(`${api}/${id}`)).json()) as UIMessage[],
  }
}

/** The predicates that the AI SDK brings along. */
export const isAnswered = (chat: { messages: UIMessage[] }): boolean =>
  lastAssistantMessageIsCompleteWithApprovalResponses(chat) || lastAssistantMessageIsCompleteWithToolCalls(chat)

/** Resolves once a chat fits; everything that changes it is awaited. */
export function until(chat: Chat<UIMessage>, fits: (chat: Chat<UIMessage>) => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => {
      if (!fits(chat)) return
      for (const end of ends) end()
      resolve()
    }
    const ends = [chat['~registerMessagesCallback'](look), chat['~registerStatusCallback'](look)]
    look()
  })
}

/** Until nothing goes on any more. */
export const settled = (chat: Chat<UIMessage>): Promise<void> =>
  until(chat, ({ status }) => status === 'ready' || status === 'error')

/** Without what JSON does not hold. */
export const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T

export const said = (id: string, text: string): UIMessage => ({ id, role: 'user', parts: [{ type: 'text', text }] })

/** Parts in short: their types, and for calls their states. */
export const shape = (message: UIMessage | undefined): string[] =>
  (message?.parts ?? []).map((part) =>
    isToolUIPart(part)
      ? `${part.type === 'dynamic-tool' ? part.toolName : part.type}:${part.state}`
      : part.type === 'text' || part.type === 'reasoning'
        ? `${part.type} ${part.text}`
        : part.type,
  )

/** All records of an agent and of those below it. */
export async function logsOf(
  store: Store,
  id: string,
): Promise<{ readonly records: LogRecord[]; readonly below: Map<string, LogRecord[]> }> {
  const read = async (agentId: string): Promise<LogRecord[]> => {
    const records: LogRecord[] = []
    for await (const record of store.read(agentId)) records.push(record)
    return records
  }
  const records = await read(id)
  const below = new Map<string, LogRecord[]>()
  const ids = childrenIn(records)
  for (const child of ids) {
    const log = await read(child)
    below.set(child, log)
    ids.push(...childrenIn(log))
  }
  return { records, below }
}

const isBelow = (part: UIMessage['parts'][number]): boolean => isToolUIPart(part) && part.toolCallId.includes('/')

/** Puts questions of sub-agents from the same millisecond, which the log has in any order, into one order. */
const ordered = (messages: readonly UIMessage[]): UIMessage[] =>
  plain(messages).map((message) => {
    const steps: UIMessage['parts'][] = []
    for (const part of message.parts) {
      if (part.type === 'step-start' || steps.length === 0) steps.push([])
      steps.at(-1)!.push(part)
    }
    const sorted = steps.map(([first, ...rest]) =>
      rest.some(isBelow)
        ? [first!, ...rest.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)))]
        : [first!, ...rest],
    )
    return { ...message, parts: sorted.flat() }
  })

/** The store as a process that is killed now leaves it. */
export async function asKilled(store: Store): Promise<Store> {
  const copy = memoryStore()
  for (const agentId of await store.list()) {
    const { records } = await logsOf(store, agentId)
    const lease = await copy.open(agentId)
    await copy.append(agentId, records)
    await lease.release()
  }
  return copy
}

/** Compares what the client shows with the log and with a page that is loaded now. */
export async function checkReload(
  { store, messages }: ChatServing,
  { messages: shown, id }: Chat<UIMessage>,
): Promise<void> {
  const { records, below } = await logsOf(store, id)
  assert.equal(ordered(shown), ordered(uiMessages(records, below)), 'the log gives what was streamed')
  assert.equal(ordered(await messages(id)), ordered(shown), 'the server gives what was streamed')
}

/** A reply that says its beginning, and goes on when it is told to. */
export function heldReply(before: string, text: string): { parts: AsyncIterable<ModelPart>; release(): void } {
  const gate = Promise.withResolvers<void>()
  return {
    release: () => gate.resolve(),
    parts: (async function* () {
      yield { type: 'text.delta', text: before }
      await gate.promise
      yield { type: 'text.delta', text: text.slice(before.length) }
      const usage = { input: 3, output: 2, cacheRead: 1, cacheWrite: 0 }
      yield { type: 'done', reply: { content: [{ type: 'text', text }], stopReason: 'stop', usage } }
    })(),
  }
}
