import type { ConversationView } from '../../../src/conversation/tree/conversationView.ts'
import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { checkChoice } from '../../../src/protocol/checks/checkChoice.ts'
import { conversationMermaid } from './conversationMermaid.ts'
import { conversationModel, type ConversationModel } from './conversationModel.ts'
import { conversationSvg } from './conversationSvg.ts'
import { conversationText } from './conversationText.ts'

/** Anything with a conversation: an agent, or a session from `loadSession`, which also knows its past and its sub-agents. */
export interface ConversationSubject {
  readonly id: string | undefined
  readonly conversation: Pick<ConversationView, 'trunk' | 'abandoned'> & Partial<Pick<ConversationView, 'pins'>>
  /** For a session: the past that a fork shares, and its own log. */
  readonly past?: readonly LogRecord[]
  readonly records?: readonly LogRecord[]
  /** Ids of the subject's sub-agents; for an agent, those that are alive. */
  readonly children?: readonly string[] | (() => readonly { readonly id: string }[])
}

export const conversationFormats = ['text', 'mermaid', 'svg', 'json'] as const
export type ConversationFormat = (typeof conversationFormats)[number]

export interface ConversationGraphOptions<F extends ConversationFormat = ConversationFormat> {
  /** Default `text`. */
  readonly format?: F | undefined
  /** With `text`: the maximum width of a line. */
  readonly columns?: number | undefined
  /** With `text`: draw with ASCII characters only. Default `false`. */
  readonly ascii?: boolean | undefined
}

/**
 * Draws a conversation with everything that was ever tried: trunk, abandoned branches, tags, prunes, compactions, rebased messages,
 * sub-agents. `text` (default) looks like `git log --graph`, `mermaid` is a flowchart whose middle is folded if it is long, `svg` a
 * self-contained picture, `json` the complete model. A session also shows where its sub-agents were started, and compactions no
 * longer in force; an agent that is not loaded has no conversation.
 *
 * @throws RuntimeError `INVALID_OPTION` for an unknown format, a width below 1, or a subject without a conversation.
 */
export function conversationGraph<F extends ConversationFormat = 'text'>(
  subject: ConversationSubject,
  options: ConversationGraphOptions<F> = {},
): F extends 'json' ? ConversationModel : string {
  const format: ConversationFormat = checkChoice('format', options.format ?? 'text', conversationFormats)
  const { columns = Infinity, ascii = false } = options
  if (!(columns >= 1)) throw new RuntimeError('INVALID_OPTION', `columns must be 1 or more; it is ${String(columns)}.`)
  const model = modelOf(subject)
  const drawn = {
    json: () => model,
    text: () => conversationText(model, { columns, ascii }).join('\n'),
    mermaid: () => conversationMermaid(model),
    svg: () => conversationSvg(model),
  }[format]()
  return drawn as F extends 'json' ? ConversationModel : string
}

function modelOf(subject: ConversationSubject): ConversationModel {
  const { id, conversation, past = [], records } = (subject ?? {}) as Partial<ConversationSubject>
  if (typeof conversation?.trunk !== 'function' || typeof conversation.abandoned !== 'function')
    throw new RuntimeError('INVALID_OPTION', 'conversationGraph takes an agent or what loadSession returns.')
  return conversationModel({
    title: id ?? 'conversation',
    conversation,
    agents:
      typeof subject.children === 'function' ? subject.children().map((child) => child.id) : (subject.children ?? []),
    ...(records === undefined ? {} : { records: [...past, ...records] }),
  })
}
