import { partId, type Entry, type Growing } from './uiParts.ts'
import type { Exchange } from './exchange.ts'
import { isStatePart, type UiStatePart } from './stateParts.ts'
import type { UiMessageChunk, UiMessagePart, UiToolPart } from './uiTypes.ts'

/** The number of pieces of a growing entry that a client has. A class, because parts that clients send may have any fields. */
class Started {
  readonly growing: Growing
  readonly pieces: number

  constructor(growing: Growing, pieces: number) {
    this.growing = growing
    this.pieces = pieces
  }
}

type Sent = UiMessagePart | Started

const isStarted = (sent: Sent | undefined): sent is Started => sent instanceof Started

interface ChunkWriter {
  /** True while no more should be written. */
  readonly isFull: boolean
  write(chunk: UiMessageChunk): void
}

/**
 * Position of one client in a message. Missing content is written as the difference: a client that was slow, or comes late, gets the same
 * message from fewer chunks.
 */
export class UiCursor {
  readonly #writer: ChunkWriter
  readonly #sent: Sent[]
  /** The newest part of the state that the client has, by id. */
  #state: Map<string, UiStatePart>

  /** `shown`: the parts that the client claims to have. They may be anything with a type. */
  constructor(writer: ChunkWriter, shown: readonly UiMessagePart[] = []) {
    this.#writer = writer
    this.#sent = shown.filter((part) => !isStatePart(part))
    this.#state = new Map(shown.filter(isStatePart).map((part) => [part.id, part]))
  }

  /** Writes the parts that the client lacks while it accepts them. `false`: some remain. */
  pull({ entries, stateParts }: Pick<Exchange, 'entries' | 'stateParts'>): boolean {
    // What was streamed of a reply that came to nothing is still shown.
    if (this.#sent.length > entries.length) this.#reset(entries.length)
    for (let index = 0; index < entries.length; index += 1) {
      const entry = entries[index]!
      const sent = this.#sent[index]
      if (sent === entry || (isStarted(sent) && sent.growing === entry && sent.pieces === sent.growing.pieces.length))
        continue
      if (this.#writer.isFull) return false
      if (sent !== undefined && !fits(sent, entry)) {
        const from = this.#reset(index)
        // Of an earlier step nothing can be taken back.
        if (from === undefined) this.#sent[index] = entry.type === 'growing' ? new Started(entry, 0) : entry
        else index = from - 1
        continue
      }
      for (const chunk of chunksOf(sent, entry, index)) this.#writer.write(chunk)
      this.#sent[index] = entry.type === 'growing' ? new Started(entry, entry.pieces.length) : entry
    }
    return stateParts.every((part) => this.#tell(part))
  }

  /** Writes a part of the state, if the client lacks it and accepts it. */
  #tell(part: UiStatePart): boolean {
    const sent = this.#state.get(part.id)
    if (sent === part) return true
    const isKnown = sent !== undefined && isSame(sent, part)
    if (!isKnown && this.#writer.isFull) return false
    if (!isKnown) this.#writer.write(part)
    this.#state.set(part.id, part)
    return true
  }

  /** Ends the step under way, and with it the parts that the client shows as growing. */
  end(): void {
    this.#sent.forEach((sent, index) => {
      if (isStarted(sent) && sent.growing.of !== 'call') this.#writer.write(endOf(sent.growing.of, index))
    })
    if (this.#sent.some((sent) => isStep(sent))) this.#writer.write({ type: 'finish-step' })
  }

  /** Drops the parts of the client's last step if it includes the one at `index`. Returns the place of the step's first part. */
  #reset(index: number): number | undefined {
    const from = this.#sent.findLastIndex(isStep) + 1
    if (index < from) return undefined
    this.#writer.write({ type: 'reset-step' })
    this.#sent.length = from
    // Those of the state may have stood in the step.
    this.#state = new Map()
    return from
  }
}

const isStep = (sent: Sent): boolean => !isStarted(sent) && sent.type === 'step-start'

/** True if later chunks can turn the part that a client has into an entry. */
function fits(sent: Sent, entry: Entry): boolean {
  if (isStarted(sent)) {
    const { growing } = sent
    if (growing === entry) return true
    if (growing.of === 'call')
      return (
        entry.type === 'dynamic-tool' && entry.toolCallId === growing.toolCallId && entry.toolName === growing.toolName
      )
    return entry.type === growing.of && entry.text.startsWith(textOf(sent))
  }
  if (sent.type !== entry.type) return false
  if (sent.type === 'dynamic-tool' && entry.type === 'dynamic-tool') return sent.toolCallId === entry.toolCallId
  if ('id' in sent && 'id' in entry && 'data' in sent) return sent.id === entry.id
  return isSame(sent, entry)
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const textOf = ({ growing, pieces }: Started): string => growing.pieces.slice(0, pieces).join('')

function chunksOf(sent: Sent | undefined, entry: Entry, index: number): readonly UiMessageChunk[] {
  if (entry.type === 'growing') return growth(sent, entry, index)
  switch (entry.type) {
    case 'text':
    case 'reasoning': {
      if (sent !== undefined && !isStarted(sent)) return []
      const had = sent === undefined ? 0 : textOf(sent).length
      const { type: of, text } = entry
      const start = sent === undefined ? [startOf(of, index)] : []
      return [...start, ...deltaOf(of, index, text.slice(had)), endOf(of, index)]
    }
    case 'step-start':
      if (sent !== undefined) return []
      return index === 0 ? [{ type: 'start-step' }] : [{ type: 'finish-step' }, { type: 'start-step' }]
    case 'dynamic-tool':
      return callChunks(isStarted(sent) ? undefined : (sent as UiToolPart | undefined), entry)
    default:
      // Parts that are the same as their chunks.
      return isSame(sent, entry) ? [] : [entry]
  }
}

function growth(sent: Sent | undefined, growing: Growing, index: number): readonly UiMessageChunk[] {
  const { of, pieces, toolCallId = '', toolName = '' } = growing
  const rest = pieces.slice(isStarted(sent) ? sent.pieces : 0).join('')
  if (of !== 'call') return [...(sent === undefined ? [startOf(of, index)] : []), ...deltaOf(of, index, rest)]
  const start: UiMessageChunk[] =
    sent === undefined ? [{ type: 'tool-input-start', toolCallId, toolName, dynamic: true }] : []
  return rest === '' ? start : [...start, { type: 'tool-input-delta', toolCallId, inputTextDelta: rest }]
}

const startOf = (of: 'text' | 'reasoning', index: number): UiMessageChunk => ({
  type: `${of}-start`,
  id: partId(of, index),
})
const endOf = (of: 'text' | 'reasoning', index: number): UiMessageChunk => ({
  type: `${of}-end`,
  id: partId(of, index),
})
const deltaOf = (of: 'text' | 'reasoning', index: number, delta: string): UiMessageChunk[] =>
  delta === '' ? [] : [{ type: `${of}-delta`, id: partId(of, index), delta }]

type Approval = { readonly id: string; readonly approved?: boolean; readonly reason?: string } | undefined

const approvalOf = (part: UiToolPart | undefined): Approval =>
  part !== undefined && 'approval' in part ? part.approval : undefined

/** Returns the chunks that take a call from one state to a later one, through those in between. */
function callChunks(sent: UiToolPart | undefined, part: UiToolPart): UiMessageChunk[] {
  const { toolCallId, toolName, input, providerExecuted } = part
  const by = providerExecuted === undefined ? {} : { providerExecuted }
  const chunks: UiMessageChunk[] = []
  if (sent === undefined || !isSame(sent.input, input))
    chunks.push({ type: 'tool-input-available', toolCallId, toolName, input, dynamic: true, ...by })
  const [had, has] = [approvalOf(sent), approvalOf(part)]
  if (has !== undefined && had?.id !== has.id)
    chunks.push({ type: 'tool-approval-request', approvalId: has.id, toolCallId })
  if (has?.approved !== undefined && (had?.id !== has.id || had.approved !== has.approved || had.reason !== has.reason))
    chunks.push({
      type: 'tool-approval-response',
      approvalId: has.id,
      approved: has.approved,
      ...(has.reason === undefined ? {} : { reason: has.reason }),
    })
  if (part.state === 'output-available' && !(sent?.state === part.state && isSame(sent.output, part.output)))
    chunks.push({ type: 'tool-output-available', toolCallId, output: part.output, ...by })
  if (part.state === 'output-error' && !(sent?.state === part.state && sent.errorText === part.errorText))
    chunks.push({ type: 'tool-output-error', toolCallId, errorText: part.errorText, ...by })
  if (part.state === 'output-denied' && sent?.state !== part.state)
    chunks.push({ type: 'tool-output-denied', toolCallId })
  return chunks
}
