import { systemClock, type Clock } from '../../../../src/protocol/ports/clock.ts'
import { ResumedChat } from './resumedChat.ts'

export interface EscapementChatOptions {
  /** Address at which `aiSdkChat` of `escapement/ai-sdk` answers. Default `/api/chat`. */
  readonly api?: string
  /** Function for requests. Default: `fetch` of the platform. */
  readonly fetch?: typeof globalThis.fetch
  /** Clock for timers. Default: the system's. */
  readonly clock?: Clock
}

/** The used fields of a chat message. */
interface Message {
  readonly role: string
}

/** Parts of a chat request. */
interface Asked<M> {
  readonly id: string
  readonly messages: M[]
  readonly body: Record<string, unknown> | undefined
  readonly trigger: string
  readonly messageId: string | undefined
}

/** Options of `DefaultChatTransport` of the AI SDK. */
export interface EscapementChatTransport {
  api: string
  fetch: typeof globalThis.fetch
  prepareSendMessagesRequest<M extends Message>(asked: Asked<M>): { body: object }
}

/** Chats by the address of their stream. They are shared because components may create a transport whenever they render. */
const chats = new Map<string, { made: number; readonly resumed: ResumedChat }>()

/** Time in milliseconds within which a new request cancels the stop of an abandoned one, because React runs effects twice. */
const againMs = 50

/**
 * Returns options for `DefaultChatTransport` of the AI SDK. `stop()` then aborts the run, which it otherwise does not. Only the newest
 * messages are sent, because the server has the others. A decision sent while a newly loaded page still resumes is not undone by the
 * resumed state. `useChat` stops when its component is unmounted; a `Chat` held outside does not.
 *
 * @example
 * ```ts no-run
 * import { DefaultChatTransport } from 'ai'
 * import { escapementChat } from 'escapement/client'
 *
 * const transport = new DefaultChatTransport(escapementChat({ api: 'https://agents.example/api/chat' }))
 * ```
 */
export function escapementChat(options: EscapementChatOptions = {}): EscapementChatTransport {
  const { api = '/api/chat', clock = systemClock } = options
  const send: typeof globalThis.fetch = (...given) => (options.fetch ?? globalThis.fetch)(...given)
  return {
    api,
    // The transport also says its headers here, which may be secrets, and where it sends.
    prepareSendMessagesRequest: ({ body, id, messages, trigger, messageId }) => ({
      body: { ...body, id, messages: messages.slice(Math.max(0, lastAnswer(messages))), trigger, messageId },
    }),
    async fetch(input, init = {}) {
      const asked = input instanceof Request ? input.url : String(input)
      const said = init.method === 'POST' ? readAsked(init.body) : undefined
      const address = said === undefined ? asked : streamOf(asked, said.id)
      const chat = chats.get(address) ?? { made: 0, resumed: new ResumedChat() }
      chats.set(address, chat)
      const number = (chat.made += 1)
      init.signal?.addEventListener('abort', () => {
        clock.after(againMs, () => {
          if (chat.made !== number) return
          const { headers = {}, credentials = 'same-origin' } = init
          // It stops nothing where nothing is under way, or nobody answers.
          void send(address, { method: 'DELETE', headers, credentials }).catch(() => {})
        })
      })
      if (said !== undefined)
        return await (said.isPrompt ? send(input, init) : chat.resumed.decide(() => send(input, init)))
      return await chat.resumed.resume((signal) => send(input, { ...init, signal }), init.signal ?? null)
    },
  }
}

/** Returns the index of the newest answer; the server has the messages before it. */
const lastAnswer = (messages: readonly Message[]): number => messages.findLastIndex(({ role }) => role === 'assistant')

/** Reads the chat of a request, and whether the request is a prompt. A prompt waits for its turn. Any other request resumes the current run. */
function readAsked(body: unknown): { readonly id: string; readonly isPrompt: boolean } {
  const { id, trigger, messages } = JSON.parse(typeof body === 'string' ? body : '{}') as Partial<Asked<Message>>
  const isPrompt = trigger === 'submit-message' && messages?.at(-1)?.role === 'user'
  return { id: typeof id === 'string' ? id : '', isPrompt }
}

function streamOf(api: string, id: string): string {
  const end = api.search(/[?#]/)
  const [path, query] = end === -1 ? [api, ''] : [api.slice(0, end), api.slice(end)]
  return `${path.replace(/\/$/, '')}/${encodeURIComponent(id)}/stream${query}`
}
