import { z } from 'zod'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import type { Content } from '../../../src/protocol/text/saidContent.ts'
import { checkedBy, describeIssues, RuntimeError } from '../../../src/protocol/errors.ts'
import { isAgentId } from '../../../src/protocol/ids.ts'
import { grantSchema } from '../../../src/protocol/parts/permissions/permissionRecords.ts'
import { readJson } from '../../bridge/src/server/readFrame.ts'

/** Longest description of a problem, and longest id of a message, in UTF-16 units. */
const maxEchoed = 500
const longestId = 256

const partSchema = z.looseObject({ type: z.string() })
const messageSchema = z.looseObject({
  id: z.string().max(longestId),
  role: z.enum(['system', 'user', 'assistant']),
  parts: z.array(partSchema),
})
export type GivenPart = z.output<typeof partSchema>
export type GivenMessage = z.output<typeof messageSchema>

/** An answer to something that waits for people, as `agent.decide` takes it. */
const answerSchema = z.union([
  z.enum(['approve', 'deny']),
  onlyFields({ value: z.unknown() }),
  onlyFields({ result: z.unknown() }),
  onlyFields({ error: z.string() }),
  /** An approval decision with a rule that holds from now on. */
  onlyFields({ decision: z.enum(['approve', 'deny']), grant: grantSchema() }),
])

const chatSchema = z.looseObject({
  id: z.string(),
  messages: z.array(messageSchema).min(1),
  trigger: z.enum(['submit-message', 'regenerate-message']).default('submit-message'),
  messageId: z.string().optional(),
  /** Decisions about anything that no part shows as a call, such as questions, by key. */
  answers: z.record(z.string(), answerSchema).default({}),
  /** True to continue a paused run. */
  resume: z.boolean().default(false),
})

/** A request from a client of `useChat`. */
export type ChatInput = z.output<typeof chatSchema>

/** Reads the body of a request. @throws RuntimeError `BRIDGE_FRAME`, `INVALID_ID` */
export function readChat(text: string, maxDepth: number): ChatInput {
  const json = readJson(text, maxDepth, 'request')
  if ('problem' in json) throw new RuntimeError('BRIDGE_FRAME', json.problem)
  return readChatInput(json.value)
}

/** @throws RuntimeError `BRIDGE_FRAME`, `INVALID_ID` */
export function readChatInput(value: unknown): ChatInput {
  const read = chatSchema.safeParse(value)
  if (!read.success) {
    const problem = cutEnd(describeIssues(read.error), maxEchoed)
    throw new RuntimeError('BRIDGE_FRAME', `This is not a request of useChat: ${problem}.`)
  }
  checkChatId(read.data.id)
  return read.data
}

/** @throws RuntimeError `INVALID_ID` */
export function checkChatId(id: string): void {
  if (isAgentId(id)) return
  throw new RuntimeError('INVALID_ID', `The chat id ${JSON.stringify(cutEnd(id, maxEchoed))} is not an agent id.`)
}

const fileSchema = z.looseObject({
  type: z.literal('file'),
  mediaType: z.string(),
  url: z.string(),
  filename: z.string().optional(),
})

/**
 * Converts a person's message to content for an agent; parts that mean nothing to an agent, such as data, are left out. @throws
 * RuntimeError `INVALID_CONTENT`
 */
export function contentOf({ parts }: GivenMessage): Exclude<Content, string> {
  return parts.flatMap((part): Exclude<Content, string> => {
    if (part.type === 'text') {
      const text: unknown = part['text']
      return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : []
    }
    if (part.type !== 'file') return []
    const { mediaType, url, filename } = checkedBy(fileSchema, part, 'A file', 'INVALID_CONTENT')
    if (mediaType === 'image' || mediaType.startsWith('image/')) return [imageOf(url, mediaType)]
    const name = filename === undefined ? {} : { name: filename }
    if (url.startsWith('data:')) return [{ type: 'file', data: url, mimeType: mediaType, ...name }]
    const what = `A file of type ${JSON.stringify(mediaType)} came by its address; agents take images so, and files as data URLs.`
    throw new RuntimeError('INVALID_CONTENT', what)
  })
}

/** Converts an image address to a block. A data URL contains its own type. */
const imageOf = (url: string, mediaType: string): Exclude<Content, string>[number] =>
  mediaType.includes('/') && !mediaType.endsWith('/*')
    ? { type: 'image', url, mimeType: mediaType }
    : { type: 'image', url }
