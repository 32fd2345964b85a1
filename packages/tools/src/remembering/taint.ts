import type { ConversationNode } from '../../../../src/conversation/tree/node.ts'
import type { NodeId } from '../../../../src/protocol/ids.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { isRemembered } from '../../../../src/protocol/remembered.ts'
import { textOf, type Block, type Message, type ToolResultMessage } from '../../../../src/protocol/messages.ts'
import type { AgentPorts } from '../../../../src/actors/agentPorts.ts'
import { recallMemoryName, unconfirmedMark } from '../../../../src/actors/parts/memory/names.ts'

type Subject = Pick<AgentPorts, 'path' | 'conversation'> & {
  readonly definition?: Partial<Pick<AgentPorts['definition'], 'toolSources'>>
}

/**
 * Returns true if the words of an agent may repeat the output of a tool: a tool, a sub-agent, a provider's search or a file has ever said something
 * to it, on abandoned branches too; or it is a sub-agent, whose task another model wrote; or servers and skills are part of each of its requests, and
 * say there what their tools are for. The agent itself cannot tell.
 */
export const mayBeTainted = ({ path, conversation, definition }: Subject): boolean =>
  path.length > 0 || (definition?.toolSources?.length ?? 0) > 0 || conversation.log().some(isForeign)

function isForeign({ message }: ConversationNode): boolean {
  switch (message.role) {
    case 'user':
      if (isOfOthers(message)) return true
      return message.content.some((block) => block.type !== 'text')
    case 'assistant':
      return message.content.some((block: Block) => block.type === 'provider')
    case 'toolResult':
      return message.synthetic === undefined && !saysNothingNew(message)
  }
}

/**
 * Returns true for a message that is not a person's: a report, a file of a workspace, the contents
 * of a page, the prompt of another program. Messages recalled from memory are trusted.
 */
const isOfOthers = (message: Message): boolean =>
  message.role === 'user' && message.provenance !== undefined && !isRemembered(message.provenance)

/**
 * Returns true if a result brings nothing in from outside. The name of a tool proves nothing: agents that the conversation was handed to,
 * an earlier definition or a server may have another tool of that name.
 */
const saysNothingNew = ({ ofRuntime, toolName, content }: ToolResultMessage): boolean =>
  ofRuntime === true && (toolName !== recallMemoryName || !textOf(content).includes(unconfirmedMark))

const sentences = lazily(() => new Intl.Segmenter('und', { granularity: 'sentence' }))
const squeezed = (text: string): string => text.normalize('NFKC').toLowerCase().replace(/\s+/gu, ' ').trim()

const mostQuoted = 1_000
const fewestLetters = 6

/**
 * Returns the whole sentences of a person that contain `quote`, because a part of a sentence may mean the opposite; `undefined` if nobody said it.
 */
export function quotedFrom({ path, conversation }: Subject, quote: string): string | undefined {
  const wanted = squeezed(quote)
  if (path.length > 0 || lettersOf(quote).length < fewestLetters) return undefined
  for (const { message } of conversation.log().toReversed()) {
    if (message.role !== 'user' || message.provenance !== undefined) continue
    const found = sentencesAround(textOf(message.content), wanted)
    if (found !== undefined && found.length <= mostQuoted) return found
  }
  return undefined
}

const spaces = (length: number): string => ' '.repeat(length)

/**
 * Returns a text of the same length without line ends and list numbers that end no sentence,
 * because the words before them may reverse its meaning.
 */
const joined = (text: string): string =>
  text
    .replace(/^[^\S\r\n\u2028\u2029]*\d+[.)]/gmu, ({ length }) => spaces(length))
    .replace(/(?<![.!?。！？…\s])\s*\n\s*/gu, ({ length }) => spaces(length))

function sentencesAround(text: string, wanted: string): string | undefined {
  if (!squeezed(text).includes(wanted)) return undefined
  const parts = [...sentences().segment(joined(text))].map(({ index, segment }) =>
    text.slice(index, index + segment.length),
  )
  const said = (from: number, to: number): string => parts.slice(from, to).join('')
  const holds = (from: number, to: number): boolean => squeezed(said(from, to)).includes(wanted)
  const to = firstOf(1, parts.length, (end) => holds(0, end))
  const from = firstOf(0, to - 1, (start) => !holds(start + 1, to))
  return said(from, to).trim()
}

/**
 * Returns the first number from `start` on for which `isSo` holds, provided that it holds for all
 * later numbers too; `end` if there is none. Tries only a few of many numbers.
 */
function firstOf(start: number, end: number, isSo: (number: number) => boolean): number {
  let [low, high] = [start, end]
  while (low < high) {
    const middle = (low + high) >> 1
    if (isSo(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Minimum length of an equal run of letters that is no coincidence. */
const windowChars = 20
const mostChars = 2_000_000

/** Returns only the letters and digits of a text, because spaces and signs are easily changed. */
const lettersOf = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '')

interface Excuse {
  /** Node from which outputs are ignored. */
  readonly before?: NodeId
  /** Text whose parts do not count as taken from outputs. */
  readonly known?: string
}

/** Returns true if a text, or a good part of it, repeats the output of a tool or messages that are not a person's. */
export function repeatsTools(
  { conversation }: Pick<Subject, 'conversation'>,
  text: string,
  { before = Infinity, known = '' }: Excuse = {},
): boolean {
  const said = lettersOf(text)
  const own = lettersOf(known)
  const windows = Array.from({ length: Math.max(1, said.length - windowChars + 1) }, (_, at) =>
    said.slice(at, at + windowChars),
  ).filter((window) => !own.includes(window))
  if (said === '' || windows.length === 0) return false
  let left = mostChars
  return conversation.log().some(({ id, message }) => {
    if ((message.role !== 'toolResult' && !isOfOthers(message)) || id >= before) return false
    const output = textOf(message.content)
    // What is too much to look at may be what it repeats.
    left -= output.length
    if (left < 0) return true
    const letters = lettersOf(output)
    return windows.some((window) => letters.includes(window))
  })
}

/** Returns the texts that are known to come from people. */
export const saidByPeople = ({ path, conversation }: Subject): string =>
  path.length > 0
    ? ''
    : conversation
        .log()
        .flatMap(({ message }) =>
          message.role === 'user' && message.provenance === undefined ? [textOf(message.content)] : [],
        )
        .join('\n')
