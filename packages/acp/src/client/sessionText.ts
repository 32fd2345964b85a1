import type { ContentBlock, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk'
import { z } from 'zod'
import type { RemoteHost } from '../../../remote/src/remoteAgent.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Spent } from '../../../../src/protocol/records.ts'
import { cutEnd } from '../../../../src/protocol/text/cutMiddle.ts'

/** Maximum length of the text kept between two calls, in UTF-16 units. */
const mostChars = 1_000_000

const usageSchema = lazily(() =>
  z.object({
    inputTokens: z.number(),
    outputTokens: z.number(),
    cachedReadTokens: z.number().nullish(),
    cachedWriteTokens: z.number().nullish(),
  }),
)
/** Schema of the same data from an escapement agent. */
const ownSchema = lazily(() =>
  z.object({
    turns: z.int(),
    costUsd: z.number(),
    usage: z.object({ input: z.number(), output: z.number(), cacheRead: z.number(), cacheWrite: z.number() }),
  }),
)

/** Interprets a session's updates: the answer, the agent's progress, and its usage. */
export class SessionText {
  readonly #host: Pick<RemoteHost, 'update' | 'used' | 'alive'>
  /** Text of the last message since the last tool call, if messages can be told apart. */
  #words = ''
  /** The last non-empty text before `#words`. */
  #before = ''
  #isReplay = false
  #asked = ''
  #isInCall = true
  #messageId: string | undefined
  #spent: Spent = { usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, costUsd: 0, turns: 0 }

  constructor(host: Pick<RemoteHost, 'update' | 'used' | 'alive'>) {
    this.#host = host
  }

  /** The agent's answer: the text after its last call, or else the last text before. */
  get answer(): string {
    return (this.#words.trim() === '' ? this.#before : this.#words).trim()
  }

  /** Begins or ends a replay of the past, from which only prompts are read. */
  replay(isReplay: boolean): void {
    this.#isReplay = isReplay
  }

  /** True if a replay contained a prompt with this text. */
  wasAsked(text: string): boolean {
    return this.#asked.includes(text)
  }

  take(update: SessionUpdate): void {
    this.#host.alive()
    if (this.#isReplay) {
      if (update.sessionUpdate === 'user_message_chunk')
        this.#asked = (this.#asked + textOf(update.content)).slice(-mostChars)
      return
    }
    switch (update.sessionUpdate) {
      case 'agent_message_chunk': {
        this.#turn()
        const { messageId } = update
        if (messageId != null && messageId !== this.#messageId) {
          this.#messageId = messageId
          this.#apart()
        }
        const text = textOf(update.content)
        this.#words = (this.#words + text).slice(-mostChars)
        return this.#host.update('text', text)
      }
      case 'agent_thought_chunk':
        this.#turn()
        return this.#host.update('thought', textOf(update.content))
      case 'tool_call':
        this.#turn()
        this.#apart()
        return this.#host.update('tool', cutEnd(update.title, 500))
      case 'tool_call_update':
        if (update.status === 'failed')
          this.#host.update('tool', `${cutEnd(update.title ?? update.toolCallId, 500)} failed`)
        if (update.status === 'completed' || update.status === 'failed') this.#isInCall = true
        return
      case 'plan':
        return this.#host.update(
          'plan',
          update.entries
            .slice(0, 50)
            .map(({ content, status }) => `${status}: ${cutEnd(content, 200)}`)
            .join('\n'),
        )
      case 'usage_update': {
        const { used, cost } = update
        const costUsd = cost?.currency === 'USD' ? cost.amount : this.#spent.costUsd
        // It tells only how full its window is: at least so much was read.
        const input = Math.max(this.#spent.usage.input, used)
        return this.#use({ ...this.#spent, usage: { ...this.#spent.usage, input, estimated: true }, costUsd })
      }
      default:
        return
    }
  }

  /** Adds the usage of a prompt, if its response reports it. */
  ended(response: PromptResponse): void {
    const { _meta: meta } = response
    const own = ownSchema().safeParse(meta?.['escapement'])
    if (own.success) return this.#use({ ...own.data, turns: Math.max(own.data.turns, this.#spent.turns) })
    const told = usageSchema().safeParse('usage' in response ? response.usage : undefined)
    if (!told.success) return
    const { inputTokens: input, outputTokens: output, cachedReadTokens, cachedWriteTokens } = told.data
    const usage = { input, output, cacheRead: cachedReadTokens ?? 0, cacheWrite: cachedWriteTokens ?? 0 }
    this.#use({ ...this.#spent, usage })
  }

  /** The protocol has no turns: one begins with what the agent does first, and with what it does once a call has ended. */
  #turn(): void {
    if (!this.#isInCall) return
    this.#isInCall = false
    this.#use({ ...this.#spent, turns: this.#spent.turns + 1 })
  }

  /** Begins a new text. */
  #apart(): void {
    if (this.#words.trim() !== '') this.#before = this.#words
    this.#words = ''
  }

  #use(spent: Spent): void {
    this.#spent = spent
    this.#host.used(spent)
  }
}

function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource_link':
      return `[${block.name}](${block.uri})`
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[${block.resource.uri}]`
    default:
      return `[${block.type}]`
  }
}
