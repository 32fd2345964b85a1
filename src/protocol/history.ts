import { z } from 'zod'
import { onlyFields } from './checks/onlyFields.ts'
import { lazily } from './lazily.ts'
import { contentSchema } from './content.ts'
import { maxContentChars, type Content, jsonChars } from './text/saidContent.ts'
import { checkedBy, RuntimeError } from './errors.ts'
import { blockSchema, type Block } from './messages.ts'

/** A message from another system, in the history that an agent begins with. A string is one block of text. */
export type HistoryMessage =
  | { readonly role: 'user'; readonly content: Content }
  /** A reply. `model` is the model that wrote it, if it is known. */
  | { readonly role: 'assistant'; readonly content: string | readonly Block[]; readonly model?: string }
  | {
      readonly role: 'toolResult'
      readonly callId: string
      readonly toolName: string
      /** Content of the result. It may be empty. */
      readonly content: Content
      readonly isError?: boolean
    }

/** Maximum number of messages in a history. */
const maxMessages = 10_000

const named = lazily(() => z.string().min(1))
const emptyContent = lazily(() => z.union([z.literal(''), z.tuple([])]).transform(() => []))

const messageSchema = lazily(() =>
  z.discriminatedUnion('role', [
    onlyFields({ role: z.literal('user'), content: contentSchema() }),
    onlyFields({
      role: z.literal('assistant'),
      content: z
        .union([z.string().transform((text) => [{ type: 'text' as const, text }]), z.array(blockSchema())])
        .transform((blocks) => blocks.filter((block) => block.type !== 'text' || block.text.trim() !== ''))
        .refine((blocks) => blocks.length > 0, 'the content is empty'),
      model: named().exactOptional(),
    }),
    onlyFields({
      role: z.literal('toolResult'),
      callId: named(),
      toolName: named(),
      content: z.union([emptyContent(), contentSchema()]),
      isError: z.boolean().exactOptional(),
    }),
  ]),
)
export type CheckedHistoryMessage = z.output<ReturnType<typeof messageSchema>>

/**
 * Converts the messages of a history to blocks and validates each message.
 * @throws RuntimeError `INVALID_OPTION`, naming the message by its index
 */
export function readHistoryMessages(history: readonly HistoryMessage[]): CheckedHistoryMessage[] {
  if (!Array.isArray(history)) throw wrongHistory('it is not a list of messages')
  if (history.length > maxMessages)
    throw wrongHistory(`it has ${history.length} messages, and ${maxMessages} are the most`)
  if (jsonChars(history) > maxContentChars)
    throw wrongHistory(`it is larger than ${maxContentChars} characters: leave out its oldest messages`)
  return history.map((message: unknown, index) => checkedBy(messageSchema(), message, `history: message ${index}`))
}

export const wrongHistory = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', `history: ${what}.`)
